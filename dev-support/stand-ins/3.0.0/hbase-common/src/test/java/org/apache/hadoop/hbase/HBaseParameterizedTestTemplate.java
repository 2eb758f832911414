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
package org.apache.hadoop.hbase;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.text.MessageFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.junit.jupiter.params.provider.Arguments;

/**
 * Takes the place of a class of hbase-common 3.0.0 of which only the jar is missing in Maven's
 * repositories, so that parameterized tests of patches can be run with hbase-server 3.0.0. Runs each
 * test template once for every element of the static method {@code parameters}, with the values as
 * the arguments of the constructor.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(HBaseParameterizedTestTemplate.Provider.class)
public @interface HBaseParameterizedTestTemplate {

  String name() default "{0}";

  /** Finds the parameters. */
  class Provider implements TestTemplateInvocationContextProvider {
    @Override
    public boolean supportsTestTemplate(ExtensionContext context) {
      return true;
    }

    @Override
    public Stream<TestTemplateInvocationContext>
      provideTestTemplateInvocationContexts(ExtensionContext context) {
      Class<?> test = context.getRequiredTestClass();
      String name = test.getAnnotation(HBaseParameterizedTestTemplate.class).name();
      try {
        Method parameters = test.getMethod("parameters");
        return ((Stream<?>) parameters.invoke(null))
          .map(arguments -> new Invocation(name, ((Arguments) arguments).get()));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(test + " has no public method parameters", e);
      }
    }
  }

  /** One run, with one set of parameters. */
  class Invocation implements TestTemplateInvocationContext, ParameterResolver {
    private final String name;
    private final Object[] values;

    Invocation(String name, Object[] values) {
      this.name = name;
      this.values = values;
    }

    @Override
    public String getDisplayName(int index) {
      return MessageFormat.format(name.replace("{index}", String.valueOf(index)), values);
    }

    @Override
    public List<Extension> getAdditionalExtensions() {
      return List.of(this);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getDeclaringExecutable() instanceof Constructor;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return values[parameter.getIndex()];
    }
  }
}
