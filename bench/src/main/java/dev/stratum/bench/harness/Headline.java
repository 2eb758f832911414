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
package dev.stratum.bench.harness;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Puts a benchmark into the set that <code>jmh:run</code> takes when it is not told which. The
 * whole set has to fit in ten minutes for both sides on two cores, so choose few parameter values.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Headline {
  /** The system property that limits the windows of {@link CompilerWarmUp}. */
  String WARM_UP_PROPERTY = "stratum.bench.warm.up.windows";

  /**
   * The parameter values to run, each element a choice in the form of <code>-Djmh.params</code>
   * (<code>engine=offheap,file,size=32768</code>); a parameter that is not named takes all its
   * values. A choice that names a parameter that the class does not have is not for this class,
   * which has inherited the method. Empty: all combinations.
   */
  String[] value() default {};

  /** The slug of the feature that the benchmark shows, as in the table of CONTRIBUTING.md. */
  String feature();

  /** Warm-up iterations of a JVM in this set; 0 for the benchmark's own number. */
  int warmup() default 0;

  /** Measured iterations of a JVM in this set; 0 for the benchmark's own number. */
  int measurement() default 0;
}
