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
package dev.stratum.fork.style;

import java.util.List;
import java.util.Set;

/**
 * What the subclasses of a converted test need to know of it.
 * @param template    the annotation of a parameterized test, {@code null} if it is none
 * @param parameters  the constructor's parameters if the conversion wrote it
 * @param imports     the imports that the parameters' types need
 * @param folders     the fields that were temporary folders
 * @param methodNames the fields that knew the test method's name
 */
record TestShape(String template, List<JUnitParameters.Parameter> parameters,
  List<ImportLines.Import> imports, Set<String> folders, Set<String> methodNames) {
  static final TestShape NONE = new TestShape(null, List.of(), List.of(), Set.of(), Set.of());
}
