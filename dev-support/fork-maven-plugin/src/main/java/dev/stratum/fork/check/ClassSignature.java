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
package dev.stratum.fork.check;

import java.util.Arrays;
import java.util.TreeSet;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * What other code can name of a class file: the class's own declaration and its members, one line
 * each. What the compiler makes up is left out, because compilers differ in it: synthetic members,
 * and everything about anonymous and local classes.
 */
final class ClassSignature {
  private final TreeSet<String> lines = new TreeSet<>();
  private String source;
  private boolean nameless;

  private ClassSignature() {
  }

  /** Reads a class file. */
  static ClassSignature of(byte[] classFile) {
    ClassSignature signature = new ClassSignature();
    new ClassReader(classFile).accept(signature.new Collector(),
      ClassReader.SKIP_CODE | ClassReader.SKIP_FRAMES);
    if (signature.nameless) {
      signature.lines.clear();
    }
    return signature;
  }

  /** Returns the sorted lines. */
  TreeSet<String> lines() {
    return lines;
  }

  /**
   * Returns the path of the Java file that the class was compiled from, relative to its source
   * folder; empty if the class file does not say.
   */
  String source() {
    return source == null ? "" : source;
  }

  private final class Collector extends ClassVisitor {
    private String self = "";

    Collector() {
      super(Opcodes.ASM9);
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName,
      String[] interfaces) {
      self = name;
      nameless = (access & Opcodes.ACC_SYNTHETIC) != 0;
      add("class", access, name, superName, signature, interfaces);
    }

    @Override
    public void visitSource(String file, String debug) {
      source = self.substring(0, self.lastIndexOf('/') + 1) + file;
    }

    @Override
    public void visitInnerClass(String name, String outerName, String innerName, int access) {
      nameless |= name.equals(self) && (outerName == null || innerName == null);
    }

    @Override
    public FieldVisitor visitField(int access, String name, String descriptor, String signature,
      Object value) {
      add("field", access, name, descriptor, signature, null);
      return null;
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
      String[] exceptions) {
      add("method", access, name, descriptor, signature, exceptions);
      return null;
    }

    private void add(String kind, int access, String name, String descriptor, String signature,
      String[] others) {
      if ((access & Opcodes.ACC_SYNTHETIC) == 0) {
        lines.add(String.format("%s %s %s 0x%x %s %s", kind, name, descriptor, access, signature,
          Arrays.toString(others)));
      }
    }
  }
}
