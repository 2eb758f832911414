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
package dev.stratum.childprocess;

/** A child answered a request with a failure. The child runs on and takes more requests. */
public final class RequestFailedException extends ProcessException {
  private static final long serialVersionUID = 1L;

  private final String reason;

  RequestFailedException(String child, String reason, Throwable cause) {
    super(child + ": " + reason, cause);
    this.reason = reason;
  }

  /** Returns the child's sentence, without the name of the child. */
  public String reason() {
    return reason;
  }
}
