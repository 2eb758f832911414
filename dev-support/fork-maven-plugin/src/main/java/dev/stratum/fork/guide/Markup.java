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
package dev.stratum.fork.guide;

import java.util.List;

/** A format of HBase's reference guide. Text arguments of blocks are in the format already. */
interface Markup {

  /** Returns the path of a chapter in HBase's repository. */
  String path(String slug);

  /** Returns what a chapter begins with. */
  String begin(String slug, String title, String description);

  /** Returns a heading; {@code level} is 2 for one that is below the title. */
  String heading(int level, String slug, String anchor, String text);

  /** Returns text without markup. */
  String text(String plain);

  /** Returns code in a line. */
  String code(String plain);

  String strong(String text);

  String emphasis(String text);

  String link(String url, String text);

  /** Returns a link to a heading of the same chapter. */
  String reference(String slug, String anchor, String text);

  /** Returns a block of code; {@code language} may be empty. */
  String codeBlock(String language, String content);

  /** Returns what an item of a list begins with; {@code depth} is 0 for one in no other list. */
  String item(int depth, int number);

  /** Returns a block that belongs to an item of a list and is not its first. */
  String continuation(int depth, String block);

  /** Returns a table; the first row is its head. */
  String table(List<List<String>> rows);
}
