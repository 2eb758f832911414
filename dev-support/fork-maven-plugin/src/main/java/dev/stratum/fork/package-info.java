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
/**
 * The plugin that builds this fork from published sources and patches.
 * <p>
 * {@code goal} has the goals and is where to begin. In this order, each uses only those
 * above it: {@code series}, the patches and their order; {@code base}, the published HBase and the
 * sources made from it; {@code git}, the work tree in which patches are edited, and exported
 * patches; {@code check}, checks of states of the series; {@code pages}, generated texts. This
 * package has what all of them use.
 */
package dev.stratum.fork;
