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
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import org.apache.yetus.audience.InterfaceAudience;

/** Which classes override one of some hooks of {@link RegionObserver}. Thread-safe. */
@InterfaceAudience.Private
public final class HookOverrides extends ClassValue<Boolean> {
  private final Set<String> hooks;

  /** @param hooks names of methods */
  public HookOverrides(String... hooks) {
    this.hooks = Collections.unmodifiableSet(new HashSet<>(Arrays.asList(hooks)));
  }

  @Override
  protected Boolean computeValue(Class<?> observer) {
    for (Method method : observer.getMethods()) {
      if (hooks.contains(method.getName()) && method.getDeclaringClass() != RegionObserver.class) {
        return true;
      }
    }
    return false;
  }
}
