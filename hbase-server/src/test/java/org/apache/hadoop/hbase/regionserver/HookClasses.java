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
package org.apache.hadoop.hbase.regionserver;

import static net.bytebuddy.matcher.ElementMatchers.named;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.MethodDelegation;
import net.bytebuddy.matcher.ElementMatcher;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;

/** Makes classes of coprocessors that override one hook each, with its {@link HookEffects}. */
final class HookClasses {

  /** Where the hook is overridden. */
  enum Form {
    /** The coprocessor's class, which is the observer too. */
    CLASS,
    /** A default method of an interface that the coprocessor's class implements. */
    INTERFACE,
    /** Another object, which the coprocessor returns as its observer. */
    OTHER_OBJECT
  }

  /** A coprocessor that is its own observer. */
  public abstract static class Observing implements RegionCoprocessor, RegionObserver {
    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }
  }

  /** Has another object as its observer. */
  public abstract static class Returning implements RegionCoprocessor {
    static final Map<Class<?>, RegionObserver> OBSERVERS = new ConcurrentHashMap<>();

    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(OBSERVERS.get(getClass()));
    }
  }

  private HookClasses() {
  }

  /** Returns a class that can be loaded by its name. */
  static Class<? extends RegionCoprocessor> make(Method hook, int id, Form form)
    throws ReflectiveOperationException {
    ElementMatcher.Junction<MethodDescription> overridden = named(hook.getName())
      .and(method -> method.asSignatureToken()
        .equals(new MethodDescription.ForLoadedMethod(hook).asSignatureToken()));
    MethodDelegation effect = MethodDelegation.to(HookEffects.class);
    String name = HookClasses.class.getPackage().getName() + "." + hook.getName() + id + form;
    ByteBuddy types = new ByteBuddy();
    switch (form) {
      case CLASS:
        return load(
          types.subclass(Observing.class).name(name).method(overridden).intercept(effect));
      case INTERFACE:
        Class<?> observer = load(types.makeInterface(RegionObserver.class).name(name + "_")
          .method(overridden).intercept(effect));
        return load(types.subclass(Observing.class).name(name).implement(observer));
      default:
        Class<? extends Returning> coprocessor =
          load(types.subclass(Returning.class).name(name));
        Returning.OBSERVERS.put(coprocessor,
          (RegionObserver) load(types.subclass(Object.class).name(name + "_")
            .implement(RegionObserver.class).method(overridden).intercept(effect))
            .getConstructor().newInstance());
        return coprocessor;
    }
  }

  private static <T> Class<? extends T> load(DynamicType.Builder<T> type) {
    return type.make()
      .load(HookClasses.class.getClassLoader(), ClassLoadingStrategy.Default.INJECTION)
      .getLoaded();
  }
}
