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
package dev.stratum.jmh;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.Test;

/** The expected figures were computed from the samples by hand. */
public class TestResultFile {
  @Test
  public void testTrialsAreToldApartByNameModeAndParameters() throws IOException {
    assertEquals(Set.of(Samples.HIT, Samples.MISS, Samples.INSERT), Samples.read("fork").keySet());
    assertEquals(Set.of(Samples.HIT, Samples.INSERT), Samples.read("stock").keySet());
  }

  @Test
  public void testAnAverageIsTheMeanOfEachJvm() throws IOException {
    List<ResultFile.Figure> figures = Samples.read("stock").get(Samples.HIT).figures();
    assertEquals(1, figures.size());
    assertEquals("us/op", figures.get(0).unit());
    assertEquals(true, figures.get(0).lowerIsBetter());
    assertArrayEquals(new double[] { 29.507831, 21.226974 }, figures.get(0).sample().perJvm(),
      1e-6);
  }

  @Test
  public void testAllocationIsReadPerJvm() throws IOException {
    assertArrayEquals(new double[] { 112.066928, 112.316509 },
      Samples.read("fork").get(Samples.MISS).allocation().perJvm(), 1e-6);
  }

  @Test
  public void testSampledTimesGiveMeanQuantilesAndTheWorst() throws IOException {
    List<ResultFile.Figure> figures = Samples.read("fork").get(Samples.INSERT).figures();
    assertEquals(List.of("", "p50", "p99", "max"),
      figures.stream().map(ResultFile.Figure::name).toList());
    double[][] expected = { { 49.868704, 142.585785 }, { 0.161, 0.18 }, { 491.52, 481.792 },
      { 51249.152, 477102.08 } };
    for (int i = 0; i < expected.length; i++) {
      assertArrayEquals(expected[i], figures.get(i).sample().perJvm(), 1e-6);
    }
  }

  @Test
  public void testAFileThatIsNotThereIsAnError() {
    assertThrows(NoSuchFileException.class, () -> ResultFile.read(Path.of("no-such.json")));
  }
}
