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

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import org.eclipse.jdt.core.dom.ASTNode;
import org.eclipse.jdt.core.dom.ASTVisitor;
import org.eclipse.jdt.core.dom.AbstractTypeDeclaration;
import org.eclipse.jdt.core.dom.AnonymousClassDeclaration;
import org.eclipse.jdt.core.dom.ClassInstanceCreation;
import org.eclipse.jdt.core.dom.CompilationUnit;
import org.eclipse.jdt.core.dom.EnumDeclaration;
import org.eclipse.jdt.core.dom.ParameterizedType;
import org.eclipse.jdt.core.dom.SimpleType;
import org.eclipse.jdt.core.dom.Type;
import org.eclipse.jdt.core.dom.TypeDeclaration;
import org.eclipse.jdt.core.dom.TypeParameter;

/** The types of a tree by qualified name, and which simple names their members inherit. */
final class TypeIndex {
  private final SortedMap<String, byte[]> tree;
  private final Map<String, String> paths = new HashMap<>();
  private final Map<String, Set<String>> inherited = new HashMap<>();

  /** Indexes the Java files of a tree, by repository path. */
  TypeIndex(SortedMap<String, byte[]> tree) {
    this.tree = tree;
    for (String path : tree.keySet()) {
      int start = path.indexOf("/java/");
      if (start >= 0 && path.endsWith(".java")) {
        paths.put(path.substring(start + "/java/".length(), path.length() - ".java".length())
          .replace('/', '.'), path);
      }
    }
  }

  /** Returns whether the tree has a file of this type. */
  boolean has(String type) {
    return paths.containsKey(type);
  }

  /** Returns the path of the file of a type, or {@code null} if the tree does not have it. */
  String path(String type) {
    return paths.get(type);
  }

  /** Returns the names of the types and type parameters that a file declares, at any depth. */
  static Set<String> declared(CompilationUnit unit) {
    Set<String> names = new HashSet<>();
    unit.accept(new ASTVisitor() {
      @Override
      public void preVisit(ASTNode node) {
        if (node instanceof AbstractTypeDeclaration type) {
          names.add(type.getName().getIdentifier());
        } else if (node instanceof TypeParameter parameter) {
          names.add(parameter.getName().getIdentifier());
        }
      }
    });
    return names;
  }

  /**
   * Returns the names of the member types that a file's types inherit from types of the tree. Such
   * a name takes precedence over an import.
   */
  Set<String> inherited(CompilationUnit unit) {
    Set<String> names = new HashSet<>();
    unit.accept(new ASTVisitor() {
      @Override
      public void preVisit(ASTNode node) {
        if (node instanceof TypeDeclaration type) {
          add(type.getSuperclassType());
          type.superInterfaceTypes().forEach(this::add);
        } else if (node instanceof EnumDeclaration type) {
          type.superInterfaceTypes().forEach(this::add);
        } else if (
          node instanceof AnonymousClassDeclaration
            && node.getParent() instanceof ClassInstanceCreation creation
        ) {
          add(creation.getType());
        }
      }

      private void add(Object type) {
        if (type != null) {
          String name = resolve((Type) type, unit);
          if (name != null) {
            names.addAll(members(name));
          }
        }
      }
    });
    return names;
  }

  private Set<String> members(String type) {
    Set<String> known = inherited.get(type);
    if (known == null) {
      inherited.put(type, Set.of());
      CompilationUnit unit = JavaText.parse(JavaText.text(tree.get(paths.get(type))));
      known = new HashSet<>(declared(unit));
      known.remove(type.substring(type.lastIndexOf('.') + 1));
      known.addAll(inherited(unit));
      inherited.put(type, known);
    }
    return known;
  }

  /** Returns the type of the tree that a type's name means, or {@code null}. */
  private String resolve(Type type, CompilationUnit unit) {
    if (type instanceof ParameterizedType parameterized) {
      return resolve(parameterized.getType(), unit);
    }
    if (!(type instanceof SimpleType simple)) {
      return null;
    }
    String name = simple.getName().getFullyQualifiedName();
    String first = name.contains(".") ? name.substring(0, name.indexOf('.')) : name;
    for (ImportLines.Import one : ImportLines.of(unit)) {
      if (!one.isStatic() && one.simple().equals(first)) {
        return found(one.name());
      }
    }
    String same = found(packageOf(unit) + "." + first);
    return same != null ? same : found(name);
  }

  private String found(String name) {
    for (String type = name; type.contains("."); type = type.substring(0,
      type.lastIndexOf('.'))) {
      if (paths.containsKey(type)) {
        return type;
      }
    }
    return null;
  }

  static String packageOf(CompilationUnit unit) {
    return unit.getPackage() == null
      ? ""
      : unit.getPackage().getName().getFullyQualifiedName();
  }

  /** Returns whether a name is that of a type of {@code java.lang}. */
  static boolean isJavaLang(String simple) {
    try {
      Class.forName("java.lang." + simple, false, null);
      return true;
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }
}

