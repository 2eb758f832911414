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

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A running digest over named pieces of content. Not thread-safe. */
public final class Digests {
  private final MessageDigest digest;

  private Digests(String algorithm) {
    try {
      digest = MessageDigest.getInstance(algorithm);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every JDK has SHA-256 and SHA-512.
    }
  }

  public static Digests sha256() {
    return new Digests("SHA-256");
  }

  public static Digests sha512() {
    return new Digests("SHA-512");
  }

  /** Returns the SHA-256 of a file in hexadecimal. */
  public static String sha256(Path file) throws IOException {
    return sha256(Files.readAllBytes(file));
  }

  /** Returns the SHA-256 of {@code content} in hexadecimal. */
  public static String sha256(byte[] content) {
    return HexFormat.of().formatHex(sha256().digest.digest(content));
  }

  /** Adds one piece; name and length are digested too, so that pieces cannot run together. */
  public Digests add(String name, byte[] content) {
    digest.update((name + "\0" + content.length + "\0").getBytes(StandardCharsets.UTF_8));
    digest.update(content);
    return this;
  }

  public Digests add(String name, String content) {
    return add(name, content.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the digest in hexadecimal and begins a new one. */
  public String hex() {
    return HexFormat.of().formatHex(digest.digest());
  }
}
