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
package dev.stratum.fork.series;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.ForkException;
import dev.stratum.fork.Repo;
import org.junit.Test;

/** A patch's header as a commit message and back. */
public class TestCommitMessage {

  private static PatchFile patch(String header) {
    return PatchFile.parse("HBASE-1-do-it.patch", Repo.bytes(header + "\n"));
  }

  private static CommitMessage parse(String... lines) {
    return CommitMessage.parse("Commit 1234", String.join("\n", lines) + "\n");
  }

  private static void assertRefused(String part, String... lines) {
    String message = assertThrows(ForkException.class, () -> parse(lines)).getMessage();
    assertTrue(message, message.startsWith("Commit 1234 ") && message.contains(part));
  }

  @Test
  public void testHeaderComesBackByteForByte() {
    for (String header : new String[] {
      "Subject: HBASE-1 Do it\nJIRA: HBASE-1\nFeature: a-b\nReason: a: b\n and  more\n"
        + "Upstream: none\nComponent: wal\nTest: X\nLines: 2.6.6 there, read\n"
        + "Compatibility: none\nRelease-note: a\n  b\nReviews:\n"
        + "Needs:\nAdds:\n hbase-server/src/main/java/X.java\n",
      "JIRA: HBASE-1\nSubject: Do\n it\nFeature: fix\n"
        + "Reviews: none\nRelease-note: n\nCompatibility: c\nLines:\nTest: -\nComponent:\n"
        + "Adds: \nNeeds: none\nUpstream: -\nReason: r\n" }) {
      CommitMessage back =
        CommitMessage.parse("Commit 1234", CommitMessage.format(patch(header)));
      assertEquals(header, back.header().text());
      assertEquals("HBASE-1-do-it.patch", back.name());
    }
  }

  @Test
  public void testMessageStartsWithTheSubject() {
    assertEquals("x\n\nJIRA: -\nFeature: fix\nReason: because\nUpstream: none\n"
      + "Component: none\nTest: none\nLines: none\nCompatibility: none\n"
      + "Release-note: none\nReviews: none\nNeeds: \nAdds: \n"
      + "Patch: HBASE-1-do-it.patch\n", CommitMessage.format(patch(Repo.header("x", "", ""))));
  }

  @Test
  public void testOneLineIsEnough() {
    CommitMessage message = parse("HBASE-12345 Evict blocks, but only once");
    assertEquals("HBASE-12345-evict-blocks-but-only-once.patch", message.name());
    assertEquals("Subject: HBASE-12345 Evict blocks, but only once\nJIRA: HBASE-12345\n"
      + "Feature: fix\nReason: to be upstreamed\nUpstream: not submitted\n"
      + "Component: none\nTest: none\nLines: none\nCompatibility: none\n"
      + "Release-note: none\nReviews: none\nNeeds:\nAdds:\n",
      message.header().text());
    message = parse("Evict blocks");
    assertEquals("STRATUM-evict-blocks.patch", message.name());
    assertEquals(null, message.header().jira());
  }

  @Test
  public void testProseBecomesTheReason() {
    CommitMessage message = parse("Do it", "", "Because it", "is right.", "", "Needs: a");
    assertEquals("Because it is right.", message.header().reason());
    assertEquals("a", message.header().needs().get(0));
    assertRefused("'prose'", "Do it", "", "prose", "Reason: r");
  }

  @Test
  public void testFileNameIsGivenOrCutAtAWord() {
    assertEquals("other.patch", parse("Do it", "", "Patch: other.patch").name());
    assertRefused("'Patch: ../x.patch'", "Do it", "", "Patch: ../x.patch");
    assertEquals("STRATUM-a-subject-that-goes-on-and-on-for-more-than-it.patch",
      parse("A subject that goes on and on, for more than it should really need").name());
  }

  @Test
  public void testNoSubject() {
    assertRefused("has no subject", "", "", "JIRA: -");
  }
}
