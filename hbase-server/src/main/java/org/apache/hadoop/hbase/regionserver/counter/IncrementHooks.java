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
package org.apache.hadoop.hbase.regionserver.counter;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.regionserver.RegionCoprocessorHost;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Whether a coprocessor of a region sees each increment: then each has to be done by itself. One
 * that has none of these hooks, like a mere endpoint, does not.
 */
@InterfaceAudience.Private
final class IncrementHooks {

  private static final Set<String> HOOKS = Collections.unmodifiableSet(new HashSet<>(
    Arrays.asList("preIncrement", "preIncrementAfterRowLock", "postIncrement",
      "postIncrementBeforeWAL", "postMutationBeforeWAL", "preBatchMutate", "postBatchMutate",
      "postBatchMutateIndispensably", "preWALAppend", "preStoreScannerOpen",
      "postStartRegionOperation", "postCloseRegionOperation")));

  private static final ClassValue<Boolean> HAS_HOOKS = new ClassValue<Boolean>() {
    @Override
    protected Boolean computeValue(Class<?> observer) {
      for (Method method : observer.getMethods()) {
        if (
          HOOKS.contains(method.getName()) && method.getDeclaringClass() != RegionObserver.class
        ) {
          return true;
        }
      }
      return false;
    }
  };

  private IncrementHooks() {
  }

  static boolean any(RegionCoprocessorHost host) {
    if (host == null) {
      return false;
    }
    for (RegionCoprocessor coprocessor : host.findCoprocessors(RegionCoprocessor.class)) {
      if (coprocessor.getRegionObserver().map(o -> HAS_HOOKS.get(o.getClass())).orElse(false)) {
        return true;
      }
    }
    return false;
  }
}
