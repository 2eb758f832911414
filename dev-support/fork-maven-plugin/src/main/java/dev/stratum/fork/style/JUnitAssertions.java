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
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.eclipse.jdt.core.dom.ASTNode;
import org.eclipse.jdt.core.dom.ASTVisitor;
import org.eclipse.jdt.core.dom.CastExpression;
import org.eclipse.jdt.core.dom.CompilationUnit;
import org.eclipse.jdt.core.dom.Expression;
import org.eclipse.jdt.core.dom.FieldDeclaration;
import org.eclipse.jdt.core.dom.InfixExpression;
import org.eclipse.jdt.core.dom.MethodDeclaration;
import org.eclipse.jdt.core.dom.MethodInvocation;
import org.eclipse.jdt.core.dom.NumberLiteral;
import org.eclipse.jdt.core.dom.ParenthesizedExpression;
import org.eclipse.jdt.core.dom.PrefixExpression;
import org.eclipse.jdt.core.dom.SimpleName;
import org.eclipse.jdt.core.dom.SingleVariableDeclaration;
import org.eclipse.jdt.core.dom.StringLiteral;
import org.eclipse.jdt.core.dom.Type;
import org.eclipse.jdt.core.dom.VariableDeclarationExpression;
import org.eclipse.jdt.core.dom.VariableDeclarationFragment;
import org.eclipse.jdt.core.dom.VariableDeclarationStatement;

/**
 * Moves the message of JUnit 4's assertions and assumptions from the first place to the last. Where
 * the number of arguments does not say whether there is a message, the form of the first and of the
 * last argument does; if that says nothing either, it is a reason not to convert.
 */
final class JUnitAssertions extends ASTVisitor {
  private static final String UNKNOWN = "?";
  private static final String STRING = "String";
  private static final String OBJECT = "Object";
  private static final Set<String> FLOATING = Set.of("float", "double", "Float", "Double");
  private static final Set<String> INTEGRAL = Set.of("byte", "short", "int", "long", "char", "Byte",
    "Short", "Integer", "Long", "Character", "Number");
  /** How many arguments an assertion has without a message. */
  private static final Map<String, Integer> ARGUMENTS = Map.ofEntries(Map.entry("assertTrue", 1),
    Map.entry("assertFalse", 1), Map.entry("assertNull", 1), Map.entry("assertNotNull", 1),
    Map.entry("assertSame", 2), Map.entry("assertNotSame", 2), Map.entry("assertThrows", 2),
    Map.entry("assumeTrue", 1), Map.entry("assumeFalse", 1));
  /** These have a tolerance as their third argument or a message as their first. */
  private static final Set<String> WITH_TOLERANCE =
    Set.of("assertEquals", "assertNotEquals", "assertArrayEquals");

  private final String text;
  private final CompilationUnit unit;
  private final Map<String, String> methods = new HashMap<>();
  private final Map<String, String> variables = new HashMap<>();
  private final Set<String> reasons;
  private final TextEdits edits = new TextEdits();

  private JUnitAssertions(String text, CompilationUnit unit, Set<String> reasons) {
    this.text = text;
    this.unit = unit;
    this.reasons = reasons;
  }

  /**
   * Returns a file with the messages moved.
   * @param reasons gets what cannot be decided
   */
  static String moveMessages(String text, Set<String> reasons) {
    CompilationUnit unit = JavaText.parse(text);
    JUnitAssertions visitor = new JUnitAssertions(text, unit, reasons);
    unit.accept(visitor.new Declarations());
    unit.accept(visitor);
    return visitor.edits.apply(text);
  }

  static boolean isKnown(String name) {
    return ARGUMENTS.containsKey(name) || WITH_TOLERANCE.contains(name) || name.equals("fail");
  }

  @Override
  public boolean visit(MethodInvocation node) {
    String name = node.getName().getIdentifier();
    boolean asserts = node.getExpression() == null
      || Set.of("Assert", "Assume").contains(node.getExpression().toString());
    if (asserts && !methods.containsKey(name)) {
      List<?> arguments = node.arguments();
      Integer count = ARGUMENTS.get(name);
      if (
        count != null && arguments.size() == count + 1
          || WITH_TOLERANCE.contains(name) && isMessage(node, arguments)
      ) {
        move(arguments);
      }
    }
    return true;
  }

  private boolean isMessage(MethodInvocation node, List<?> arguments) {
    if (arguments.size() != 3) {
      return arguments.size() == 4;
    }
    String first = type((Expression) arguments.get(0));
    String last = type((Expression) arguments.get(2));
    if (isFloating(last) || isNumber(first) || isFloating(first.replace("[]", ""))) {
      return false;
    }
    if (!first.equals(UNKNOWN) || !last.equals(UNKNOWN) && !isNumber(last)) {
      return true;
    }
    reasons.add("line " + unit.getLineNumber(node.getStartPosition())
      + ": is the first argument of " + node.getName() + " a message?");
    return false;
  }

  private static boolean isFloating(String type) {
    return FLOATING.contains(type);
  }

  private static boolean isNumber(String type) {
    return isFloating(type) || INTEGRAL.contains(type);
  }

  private void move(List<?> arguments) {
    ASTNode message = (ASTNode) arguments.get(0);
    ASTNode last = (ASTNode) arguments.get(arguments.size() - 1);
    edits.replace(message.getStartPosition(), ((ASTNode) arguments.get(1)).getStartPosition(), "");
    edits.insert(TextEdits.end(last),
      ", " + text.substring(message.getStartPosition(), TextEdits.end(message)));
  }

  /** Returns a type as declared or a literal's type, or a question mark. */
  private String type(Expression expression) {
    if (expression instanceof StringLiteral) {
      return STRING;
    }
    if (expression instanceof NumberLiteral number) {
      String token = number.getToken().toLowerCase(Locale.ROOT);
      boolean fraction = !token.startsWith("0x") && token.matches(".*[.efd].*");
      return fraction ? "double" : "int";
    }
    if (expression instanceof ParenthesizedExpression inner) {
      return type(inner.getExpression());
    }
    if (expression instanceof PrefixExpression prefix) {
      return type(prefix.getOperand());
    }
    if (expression instanceof CastExpression cast) {
      return cast.getType().toString();
    }
    if (expression instanceof InfixExpression infix) {
      return infix(infix);
    }
    if (expression instanceof SimpleName name) {
      return variables.getOrDefault(name.getIdentifier(), UNKNOWN);
    }
    if (expression instanceof MethodInvocation call) {
      String name = call.getName().getIdentifier();
      if (name.equals("toString") || name.equals("getSimpleName")) {
        return STRING;
      }
      if (call.getExpression() == null) {
        return methods.getOrDefault(name, UNKNOWN);
      }
      String on = call.getExpression().toString();
      return on.equals(STRING) ? STRING : name.equals("parse" + on) ? on : UNKNOWN;
    }
    return UNKNOWN;
  }

  private String infix(InfixExpression infix) {
    String left = type(infix.getLeftOperand());
    String right = type(infix.getRightOperand());
    for (String one : new String[] { STRING, "double", "float" }) {
      if (left.equals(one) || right.equals(one)) {
        return one;
      }
    }
    for (Object operand : infix.extendedOperands()) {
      if (type((Expression) operand).equals(STRING)) {
        return STRING;
      }
    }
    return infix.getOperator() == InfixExpression.Operator.PLUS ? left : "int";
  }

  /** The types of what the file declares; a name with several types may be unknown. */
  private final class Declarations extends ASTVisitor {
    @Override
    public boolean visit(MethodDeclaration node) {
      add(methods, node.getName().getIdentifier(), node.getReturnType2());
      return true;
    }

    @Override
    public boolean visit(SingleVariableDeclaration node) {
      add(variables, node.getName().getIdentifier(), node.getType());
      return true;
    }

    @Override
    public boolean visit(VariableDeclarationFragment node) {
      Type type = null;
      if (node.getParent() instanceof FieldDeclaration field) {
        type = field.getType();
      } else if (node.getParent() instanceof VariableDeclarationStatement statement) {
        type = statement.getType();
      } else if (node.getParent() instanceof VariableDeclarationExpression expression) {
        type = expression.getType();
      }
      add(variables, node.getName().getIdentifier(), type);
      return true;
    }

    private void add(Map<String, String> types, String name, Type type) {
      String shown = type == null ? UNKNOWN : type.toString();
      types.merge(name, shown, (one, other) -> one.equals(other)
        ? one
        : isNumber(one) || isNumber(other) || isUnknown(one, other) ? UNKNOWN : OBJECT);
    }

    private boolean isUnknown(String one, String other) {
      return one.equals(UNKNOWN) || other.equals(UNKNOWN);
    }
  }
}
