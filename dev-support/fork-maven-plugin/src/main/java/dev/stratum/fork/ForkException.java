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
package dev.stratum.fork;

/**
 * A problem that the user can solve. The message is one sentence that names the patch, the file
 * and what to do, and is all that the user sees.
 */
public final class ForkException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates a problem described by {@code format}, as {@link String#format} takes it. */
  public ForkException(String format, Object... args) {
    super(args.length == 0 ? format : String.format(format, args));
  }
}
