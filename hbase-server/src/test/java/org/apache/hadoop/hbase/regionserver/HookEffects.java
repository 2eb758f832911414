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
package org.apache.hadoop.hbase.regionserver;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import net.bytebuddy.implementation.bind.annotation.AllArguments;
import net.bytebuddy.implementation.bind.annotation.Origin;
import net.bytebuddy.implementation.bind.annotation.RuntimeType;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.io.FSDataInputStreamWrapper;
import org.apache.hadoop.hbase.io.Reference;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.regionserver.querymatcher.DeleteTracker;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Pair;

/**
 * What overridden hooks do: what they may do that a client can see. A hook that cannot, or whose
 * exception would end the server, does nothing.
 */
public final class HookEffects {
  static final byte[] FAMILY = Bytes.toBytes("f");
  /** A family with one version, so that increments can be merged. */
  static final byte[] COUNTERS = Bytes.toBytes("n");
  static final byte[] A = Bytes.toBytes("a");
  static final byte[] COUNTER = Bytes.toBytes("c");
  /** Is left out by flushes and compactions. */
  static final byte[] DROPPED = Bytes.toBytes("d");
  /** Is left out by the readers of files. */
  static final byte[] SECRET = Bytes.toBytes("secret");
  private static final byte[] OWN = Bytes.toBytes("own");
  private static final long OWN_NUMBER = 77;
  private static final Set<Region.Operation> OF_CLIENTS =
    EnumSet.of(Region.Operation.GET, Region.Operation.SCAN, Region.Operation.PUT,
      Region.Operation.DELETE, Region.Operation.APPEND, Region.Operation.INCREMENT,
      Region.Operation.BATCH_MUTATE);

  private static volatile boolean active;

  private HookEffects() {
  }

  /** Sets whether hooks have their effects from now on. */
  static void setActive(boolean now) {
    active = now;
  }

  /** Is called in place of the hook. */
  @RuntimeType
  public static Object apply(@Origin String method, @AllArguments Object[] args)
    throws IOException {
    String hook = method.substring(0, method.indexOf('('));
    hook = hook.substring(hook.lastIndexOf('.') + 1);
    return active ? effect(hook, args) : unchanged(hook, args);
  }

  /** Returns what the hook returns where it is not overridden. */
  private static Object unchanged(String hook, Object[] args) {
    switch (hook) {
      case "preFlush":
        return args.length > 2 ? args[2] : null;
      case "postInstantiateDeleteTracker":
        return args[1];
      case "preMemStoreCompactionCompact":
      case "preCompact":
      case "postAppend":
      case "postIncrement":
      case "postScannerOpen":
      case "preExists":
      case "postExists":
      case "postIncrementBeforeWAL":
      case "postAppendBeforeWAL":
        return args[2];
      case "preAppend":
      case "preAppendAfterRowLock":
      case "preIncrement":
      case "preIncrementAfterRowLock":
        return null;
      default:
        // All other hooks that return a value have it as their last argument.
        return args[args.length - 1];
    }
  }

  @SuppressWarnings("unchecked")
  private static Object effect(String hook, Object[] args) throws IOException {
    ObserverContext<RegionCoprocessorEnvironment> context =
      (ObserverContext<RegionCoprocessorEnvironment>) args[0];
    switch (hook) {
      case "preGetOp":
        ((List<Cell>) args[2]).add(own(args[1]));
        context.bypass();
        return null;
      case "postGetOp":
        ((List<Cell>) args[2]).add(own(args[1]));
        return null;
      case "preExists":
        context.bypass();
        return true;
      case "postExists":
        return !(Boolean) args[2];
      case "preScannerOpen":
        ((Scan) args[1]).addColumn(FAMILY, A);
        return null;
      case "postScannerOpen":
        ((RegionScanner) args[2]).next(new ArrayList<>());
        return args[2];
      case "postScannerNext":
        ((List<Result>) args[2]).clear();
        return args[4];
      case "postScannerFilterRow":
        return false;
      case "preStoreScannerOpen":
      case "preFlushScannerOpen":
      case "preMemStoreCompactionCompactScannerOpen":
        ((ScanOptions) args[2]).setMaxVersions(1);
        return null;
      case "preCompactScannerOpen":
        ((ScanOptions) args[3]).setMaxVersions(1);
        return null;
      case "postInstantiateDeleteTracker":
        return hiding((DeleteTracker) args[1]);
      case "postStoreFileReaderOpen":
        return new TestPointGets.OwnReaders().postStoreFileReaderOpen(context,
          (FileSystem) args[1], (Path) args[2], (FSDataInputStreamWrapper) args[3],
          (Long) args[4], (CacheConfig) args[5], (Reference) args[6], (StoreFileReader) args[7]);
      case "preFlush":
        if (args.length > 2) {
          return dropping((InternalScanner) args[2]);
        }
        throw failure();
      case "preCompact":
      case "preMemStoreCompactionCompact":
        return dropping((InternalScanner) args[2]);
      default:
        return hook.contains("Check") ? ofCondition(context, hook, args)
          : ofWrite(context, hook, args);
    }
  }

  private static Object ofCondition(ObserverContext<?> context, String hook, Object[] args) {
    if (hook.startsWith("pre")) {
      context.bypass();
    }
    Object result = args[args.length - 1];
    if (!hook.contains("CheckAndMutate")) {
      return !(Boolean) result;
    }
    return new CheckAndMutateResult(
      result == null || !((CheckAndMutateResult) result).isSuccess(), null);
  }

  @SuppressWarnings("unchecked")
  private static Object ofWrite(ObserverContext<?> context, String hook, Object[] args)
    throws IOException {
    switch (hook) {
      case "preBatchMutate":
        MiniBatchOperationInProgress<Mutation> batch =
          (MiniBatchOperationInProgress<Mutation>) args[1];
        batch.addOperationsFromCP(0, new Mutation[] {
          new Put(batch.getOperation(0).getRow()).addColumn(FAMILY, OWN, 1, OWN) });
        return null;
      case "postStartRegionOperation":
      case "postCloseRegionOperation":
        if (OF_CLIENTS.contains(args[1])) {
          throw failure();
        }
        return null;
      case "prePut":
      case "preDelete":
      case "prePrepareTimeStampForDeleteVersion":
        context.bypass();
        return null;
      case "preScannerNext":
      case "preScannerClose":
      case "postScannerClose":
      case "postBatchMutate":
      case "postBatchMutateIndispensably":
      case "preWALAppend":
      case "postPut":
      case "postDelete":
        throw failure();
      case "preAppend":
      case "preAppendAfterRowLock":
      case "preIncrement":
      case "preIncrementAfterRowLock":
        context.bypass();
        return Result.create(new Cell[] { own(args[1]) });
      case "postAppend":
      case "postIncrement":
        return Result.create(new Cell[] { own(args[1]) });
      case "postMutationBeforeWAL":
        return changed((Cell) args[4]);
      case "postIncrementBeforeWAL":
      case "postAppendBeforeWAL":
        List<Pair<Cell, Cell>> pairs = new ArrayList<>();
        for (Pair<Cell, Cell> pair : (List<Pair<Cell, Cell>>) args[2]) {
          pairs.add(new Pair<>(pair.getFirst(), changed(pair.getSecond())));
        }
        return pairs;
      default:
        return unchanged(hook, args);
    }
  }

  private static IOException failure() {
    return new DoNotRetryIOException("of the hook");
  }

  private static Cell own(Object operation) {
    return new KeyValue(((Row) operation).getRow(), FAMILY, OWN, 1, OWN);
  }

  private static Cell changed(Cell cell) {
    return new KeyValue(CellUtil.cloneRow(cell), CellUtil.cloneFamily(cell),
      CellUtil.cloneQualifier(cell), cell.getTimestamp(), Bytes.toBytes(OWN_NUMBER));
  }

  /** Hides the counter. */
  private static DeleteTracker hiding(DeleteTracker tracker) {
    return (DeleteTracker) Proxy.newProxyInstance(DeleteTracker.class.getClassLoader(),
      new Class<?>[] { DeleteTracker.class }, (proxy, method, args) -> {
        if (method.getName().equals("isEmpty")) {
          // Else it is not asked.
          return false;
        }
        if (
          method.getName().equals("isDeleted")
            && CellUtil.matchingQualifier((Cell) args[0], COUNTER)
        ) {
          return DeleteTracker.DeleteResult.COLUMN_DELETED;
        }
        try {
          return method.invoke(tracker, args);
        } catch (InvocationTargetException e) {
          throw e.getCause();
        }
      });
  }

  private static InternalScanner dropping(InternalScanner scanner) {
    return new InternalScanner() {
      @Override
      public boolean next(List<Cell> result, ScannerContext context) throws IOException {
        List<Cell> cells = new ArrayList<>();
        boolean more = scanner.next(cells, context);
        cells.removeIf(cell -> CellUtil.matchingQualifier(cell, DROPPED));
        result.addAll(cells);
        return more;
      }

      @Override
      public void close() throws IOException {
        scanner.close();
      }
    };
  }
}
