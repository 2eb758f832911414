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
package dev.stratum.localfiles;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class TestPermissionsWithoutProcess {
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private static FileSystem local() throws IOException {
    FileSystem local = FileSystem.getLocal(new Configuration());
    assertEquals("of each configuration", PermissionsWithoutProcess.class, local.getClass());
    return local;
  }

  @Test
  public void testPermissionsAreThoseThatWereSet() throws IOException {
    Path file = new Path(folder.newFile().toURI());
    for (int permission : new int[] { 0777, 0640, 0401, 0 }) {
      local().setPermission(file, new FsPermission(permission));
      assertEquals(permission, local().getFileStatus(file).getPermission().toShort());
    }
    Path all = new Path(folder.newFolder().toURI());
    local().setPermission(all, new FsPermission(01777));
    assertEquals("rwxrwxrwt", local().getFileStatus(all).getPermission().toString());
  }

  @Test
  public void testFileThatIsNotThereHasNoPermissions() {
    Path none = new Path(folder.getRoot().toURI().toString(), "none");
    assertThrows(IOException.class,
      () -> local().setPermission(none, new FsPermission(0640)));
  }
}
