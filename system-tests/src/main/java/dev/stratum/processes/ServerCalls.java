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
package dev.stratum.processes;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.monitoring.MonitoredRPCHandler;
import org.apache.hadoop.hbase.monitoring.MonitoredTask;
import org.apache.hadoop.hbase.monitoring.TaskMonitor;

/**
 * The calls that an RPC server has accepted and not answered, as text: those that wait for a
 * handler, wherever the scheduler keeps them, and those that handlers run. For a server of either
 * build, in its own process.
 */
public final class ServerCalls {
  /** Where calls wait are fields of these classes, or collections. */
  private static final String PACKAGE = "org.apache.hadoop.hbase.ipc.";

  private final long now = System.currentTimeMillis();
  private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
  private final List<String> waiting = new ArrayList<>();

  private ServerCalls() {
  }

  /** Describes the calls in several lines. */
  public static String describe(RpcScheduler scheduler) {
    ServerCalls calls = new ServerCalls();
    calls.find(scheduler, "scheduler");
    List<String> lines = new ArrayList<>();
    lines.add(lengths(scheduler));
    lines.add(calls.waiting.size() + " calls wait for a handler");
    calls.waiting.forEach(call -> lines.add("  " + call));
    List<String> running = calls.running();
    lines.add(running.size() + " calls are run by handlers");
    running.forEach(call -> lines.add("  " + call));
    return String.join("\n", lines) + "\n";
  }

  /** Returns how many calls wait for a handler. */
  public static int waiting(RpcScheduler scheduler) {
    ServerCalls calls = new ServerCalls();
    calls.find(scheduler, "scheduler");
    return calls.waiting.size();
  }

  private static String lengths(RpcScheduler scheduler) {
    return String.format("calls in queues: general %d (write %d, read %d, scan %d), priority %d, "
      + "meta priority %d, replication %d, bulk load %d%nactive handlers: general %d, priority %d, "
      + "meta priority %d, replication %d, bulk load %d", scheduler.getGeneralQueueLength(),
      scheduler.getWriteQueueLength(), scheduler.getReadQueueLength(),
      scheduler.getScanQueueLength(), scheduler.getPriorityQueueLength(),
      scheduler.getMetaPriorityQueueLength(), scheduler.getReplicationQueueLength(),
      scheduler.getBulkLoadQueueLength(), scheduler.getActiveGeneralRpcHandlerCount(),
      scheduler.getActivePriorityRpcHandlerCount(),
      scheduler.getActiveMetaPriorityRpcHandlerCount(),
      scheduler.getActiveReplicationRpcHandlerCount(),
      scheduler.getActiveBulkLoadRpcHandlerCount());
  }

  private void find(Object object, String path) {
    if (object == null || !seen.add(object)) {
      return;
    }
    if (object instanceof CallRunner) {
      waiting.add(path + ": " + describe((CallRunner) object));
    } else if (object instanceof Collection) {
      int index = 0;
      for (Object element : (Collection<?>) object) {
        find(element, path + "[" + index++ + "]");
      }
    }
    for (Class<?> type = object.getClass(); type != null && type.getName().startsWith(PACKAGE);
      type = type.getSuperclass()) {
      if (!(object instanceof CallRunner)) {
        findInFields(object, type, path);
      }
    }
  }

  private void findInFields(Object object, Class<?> type, String path) {
    for (Field field : type.getDeclaredFields()) {
      if (field.getType().isPrimitive() || Modifier.isStatic(field.getModifiers())) {
        continue;
      }
      try {
        field.setAccessible(true);
        Object value = field.get(object);
        if (value instanceof Collection || value != null
          && value.getClass().getName().startsWith(PACKAGE)) {
          find(value, path + "." + field.getName());
        }
      } catch (ReflectiveOperationException | RuntimeException e) {
        waiting.add(path + "." + field.getName() + " cannot be read: " + e);
      }
    }
  }

  private String describe(CallRunner runner) {
    RpcCall call = runner.getRpcCall();
    return call == null
      ? "a call that was taken meanwhile"
      : (now - call.getReceiveTime()) + " ms, " + call.toShortString();
  }

  private List<String> running() {
    return TaskMonitor.get().getTasks().stream().filter(ServerCalls::isRunningCall)
      .map(MonitoredRPCHandler.class::cast).map(handler -> handler.getDescription() + ": "
        + (now - handler.getRPCStartTime()) + " ms, "
        + handler.getRPC(true).replaceAll("\\s+", " ") + " of " + handler.getClient() + ", "
        + handler.getStatus())
      .collect(Collectors.toList());
  }

  private static boolean isRunningCall(MonitoredTask task) {
    return task instanceof MonitoredRPCHandler && ((MonitoredRPCHandler) task).isRPCRunning();
  }
}
