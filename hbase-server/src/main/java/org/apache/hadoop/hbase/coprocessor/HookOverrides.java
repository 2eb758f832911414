/*
 * Licensed to the Apache Software Foundation (ASF) under one
 * or more contributor license agreements.  See the NOTICE file
 * distributed with this work for additional information
 * regarding copyright ownership.  The ASF licenses this file
 * to you under the Apache License, Version 2.0 (the
 * "License"); you may not use this file except in compliance
 * with the License.  You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.apache.hadoop.hbase.coprocessor;

import java.lang.reflect.Method;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.hbase.CoprocessorEnvironment;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Finds the observers of a region that have hooks of other kinds than a feature names. What an
 * observer has is found by its class: the methods of {@link RegionObserver} that it inherits from
 * any other class or interface. The coprocessors of a region, and the observers that they return,
 * are looked at each time, since both may change while it is open. Thread-safe.
 */
@InterfaceAudience.Private
public final class HookOverrides {
  private static final ClassValue<Set<HookKind>> KINDS = new ClassValue<Set<HookKind>>() {
    @Override
    protected Set<HookKind> computeValue(Class<?> observer) {
      Set<HookKind> kinds = EnumSet.noneOf(HookKind.class);
      for (Method method : observer.getMethods()) {
        if (method.getDeclaringClass() != RegionObserver.class && isHook(method)) {
          kinds.add(HookKind.of(method));
        }
      }
      return kinds;
    }
  };

  private final Set<HookKind> served;

  private HookOverrides(Set<HookKind> served) {
    this.served = Collections.unmodifiableSet(served);
  }

  /** @param kinds of hooks that a region may have, and the feature does what it does without */
  public static HookOverrides servedWith(HookKind first, HookKind... kinds) {
    return new HookOverrides(EnumSet.of(first, kinds));
  }

  /** Returns what serves regions with fewer kinds of hooks. */
  public HookOverrides without(HookKind first, HookKind... kinds) {
    Set<HookKind> fewer = EnumSet.copyOf(served);
    fewer.removeAll(EnumSet.of(first, kinds));
    return new HookOverrides(fewer);
  }

  private static boolean isHook(Method method) {
    try {
      RegionObserver.class.getMethod(method.getName(), method.getParameterTypes());
      return true;
    } catch (NoSuchMethodException e) {
      return false;
    }
  }

  /** Returns what is another object when a coprocessor of the host was loaded or removed. */
  public static Object loaded(CoprocessorHost<RegionCoprocessor, ?> host) {
    return environments(host);
  }

  private static List<? extends CoprocessorEnvironment<RegionCoprocessor>>
    environments(CoprocessorHost<RegionCoprocessor, ?> host) {
    // The host of a test may have no list.
    return host == null || host.coprocEnvironments == null
      ? Collections.emptyList()
      : host.coprocEnvironments.get();
  }

  /** Returns the kinds of hooks that a region may have. */
  public Set<HookKind> served() {
    return served;
  }

  /**
   * Returns whether an observer of the region has another hook.
   * @param host  null if there is none
   * @param known class of coprocessors that the caller serves, whatever hooks they have, but not of
   *              its subclasses; null for none
   */
  public boolean any(CoprocessorHost<RegionCoprocessor, ?> host, Class<?> known) {
    for (CoprocessorEnvironment<RegionCoprocessor> environment : environments(host)) {
      RegionCoprocessor coprocessor = environment.getInstance();
      RegionObserver observer = coprocessor.getRegionObserver().orElse(null);
      if (
        observer != null && coprocessor.getClass() != known
          && !served.containsAll(KINDS.get(observer.getClass()))
      ) {
        return true;
      }
    }
    return false;
  }
}
