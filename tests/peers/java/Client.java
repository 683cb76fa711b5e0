import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema;
import reactor.core.publisher.Mono;

/**
 * A scripted client on the official Java SDK: starts a command as its server or visits a URL, plays the steps of a
 * session and prints one JSON document of everything it received; the README one folder up describes both.
 *
 * <pre>
 * java -cp … Client SESSION.json -- COMMAND…
 * java -cp … Client --url URL SESSION.json
 * </pre>
 *
 * The SDK has no way to cancel a request, so the script must have no such step.
 */
public final class Client {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final McpJsonMapper JSON = McpJsonDefaults.getMapper();
    private static final TypeRef<Map<String, Object>> OBJECT = new TypeRef<>() {};
    private static final TypeRef<List<Map<String, Object>>> OBJECTS = new TypeRef<>() {};

    /** What arrived and belongs to no answer, in the order of the wire. */
    private static final class Ear {
        private final List<Map<String, Object>> heard = new ArrayList<>();
        private final Map<String, List<Object>> progress = new HashMap<>(); // by token

        synchronized void hear(McpSchema.JSONRPCMessage message) {
            Map<String, Object> one = JSON.convertValue(message, OBJECT);
            Object method = one.get("method");
            if (method == null)
                return;
            Object params = one.get("params");
            Map<String, Object> of = params == null ? new HashMap<>() : new LinkedHashMap<>(JSON.convertValue(params, OBJECT));
            if (method.equals("notifications/progress"))
                progressOf(String.valueOf(of.remove("progressToken"))).add(of);
            else
                heard.add(new TreeMap<>(Map.of("method", method, "params", of))); // Map.of has no fixed order
            notifyAll();
        }

        synchronized List<Object> progressOf(String token) {
            return progress.computeIfAbsent(token, unused -> new ArrayList<>());
        }

        synchronized List<Map<String, Object>> since(int start) {
            return List.copyOf(heard.subList(start, heard.size()));
        }

        synchronized void until(Object method, int start) throws InterruptedException {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (since(start).stream().noneMatch(one -> one.get("method").equals(method))) {
                long left = (deadline - System.nanoTime()) / 1_000_000;
                if (left <= 0)
                    throw new IllegalStateException("'" + method + "' did not come");
                wait(left);
            }
        }
    }

    /** A transport that lets the ear hear a message before the SDK acts on it. */
    private record Tapped(McpClientTransport inner, Ear ear) implements McpClientTransport {
        @Override
        public Mono<Void> connect(
                Function<Mono<McpSchema.JSONRPCMessage>, Mono<McpSchema.JSONRPCMessage>> handler) {
            return inner.connect(message -> handler.apply(message.doOnNext(ear::hear)));
        }

        @Override
        public void setExceptionHandler(Consumer<Throwable> handler) {
            inner.setExceptionHandler(handler);
        }

        @Override
        public Mono<Void> sendMessage(McpSchema.JSONRPCMessage message) {
            return inner.sendMessage(message);
        }

        @Override
        public Mono<Void> closeGracefully() {
            return inner.closeGracefully();
        }

        @Override
        public <T> T unmarshalFrom(Object data, TypeRef<T> type) {
            return inner.unmarshalFrom(data, type);
        }

        @Override
        public List<String> protocolVersions() {
            return inner.protocolVersions();
        }
    }

    private final Ear ear = new Ear();
    private final McpSyncClient client;
    private final AtomicInteger tokens = new AtomicInteger(); // steps of "together" ask on threads of their own

    private Client(McpClientTransport transport, Map<String, Object> answers) {
        Map<String, Object> roots = JSON.convertValue(answers.get("roots/list"), OBJECT);
        List<McpSchema.Root> files = JSON.convertValue(roots.get("roots"), new TypeRef<List<McpSchema.Root>>() {});
        client = McpClient.sync(new Tapped(transport, ear))
            .requestTimeout(PATIENCE)
            .clientInfo(McpSchema.Implementation.builder("mcpreel-java-client", "1.0.0").build())
            .capabilities(McpSchema.ClientCapabilities.builder().roots(true).sampling().elicitation().build())
            .roots(files)
            .sampling(request -> as(answers.get("sampling/createMessage"), McpSchema.CreateMessageResult.class))
            .elicitation(request -> as(answers.get("elicitation/create"), McpSchema.ElicitResult.class))
            .build();
    }

    private static <T> T as(Object value, Class<T> type) {
        return JSON.convertValue(value, type);
    }

    private Object call(String method, Map<String, Object> params, String token) {
        return switch (method) {
            case "ping" -> client.ping();
            case "tools/list" -> client.listTools((String) params.get("cursor"));
            case "tools/call" -> {
                Map<String, Object> all = new LinkedHashMap<>(params);
                if (token != null)
                    all.put("_meta", Map.of("progressToken", token));
                yield client.callTool(as(all, McpSchema.CallToolRequest.class));
            }
            case "resources/list" -> client.listResources((String) params.get("cursor"));
            case "resources/templates/list" -> client.listResourceTemplates((String) params.get("cursor"));
            case "resources/read" -> client.readResource(as(params, McpSchema.ReadResourceRequest.class));
            case "resources/subscribe" -> {
                client.subscribeResource(as(params, McpSchema.SubscribeRequest.class));
                yield Map.of();
            }
            case "resources/unsubscribe" -> {
                client.unsubscribeResource(as(params, McpSchema.UnsubscribeRequest.class));
                yield Map.of();
            }
            case "prompts/list" -> client.listPrompts((String) params.get("cursor"));
            case "prompts/get" -> client.getPrompt(as(params, McpSchema.GetPromptRequest.class));
            case "completion/complete" -> client.completeCompletion(as(params, McpSchema.CompleteRequest.class));
            case "logging/setLevel" -> {
                client.setLoggingLevel(as(params.get("level"), McpSchema.LoggingLevel.class));
                yield Map.of();
            }
            default -> throw new IllegalArgumentException("cannot ask '" + method + "'");
        };
    }

    private static Map<String, Object> errorOf(McpSchema.JSONRPCResponse.JSONRPCError error) {
        Map<String, Object> of = new LinkedHashMap<>(Map.of("code", error.code(), "message", error.message()));
        of.put("data", error.data());
        return of;
    }

    private Map<String, Object> ask(Map<String, Object> step) {
        Map<String, Object> params = step.get("params") == null ? Map.of() : JSON.convertValue(step.get("params"), OBJECT);
        boolean wantsProgress = Boolean.TRUE.equals(step.get("progress"));
        String token = wantsProgress ? "token-" + tokens.getAndIncrement() : null;
        Map<String, Object> seen = new LinkedHashMap<>();
        try {
            seen.put("result", call((String) step.get("ask"), params, token));
        } catch (RuntimeException error) {
            Throwable root = McpError.findRootCause(error);
            if (root instanceof McpError of && of.getJsonRpcError() != null)
                seen.put("error", errorOf(of.getJsonRpcError()));
            else
                seen.put("refused", String.valueOf(error.getMessage()));
        }
        if (wantsProgress)
            seen.put("progress", ear.progressOf(token));
        return seen;
    }

    private Map<String, Object> together(List<Map<String, Object>> steps) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(steps.size());
        List<Callable<Map<String, Object>>> asks = new ArrayList<>();
        for (Map<String, Object> step : steps)
            asks.add(() -> ask(step));
        List<Object> seen = new ArrayList<>();
        for (Future<Map<String, Object>> one : pool.invokeAll(asks))
            seen.add(one.get());
        pool.shutdown();
        return new LinkedHashMap<>(Map.of("together", seen));
    }

    private Map<String, Object> play(Map<String, Object> step) throws Exception {
        Map<String, Object> seen = new LinkedHashMap<>();
        if (step.containsKey("ask"))
            seen = ask(step);
        else if (step.containsKey("together"))
            seen = together(JSON.convertValue(step.get("together"), OBJECTS));
        if ("notifications/roots/list_changed".equals(step.get("tell")))
            client.rootsListChangedNotification();
        else if (step.containsKey("tell") || step.containsKey("cancel"))
            throw new IllegalArgumentException("cannot play " + step);
        return seen;
    }

    private Map<String, Object> run(List<Map<String, Object>> steps) throws Exception {
        McpSchema.InitializeResult hello = client.initialize();
        List<Object> all = new ArrayList<>();
        int start = 0;
        for (Map<String, Object> step : steps) {
            Map<String, Object> seen = play(step);
            if (step.containsKey("until"))
                ear.until(step.get("until"), start);
            List<Map<String, Object>> heard = ear.since(start);
            start += heard.size();
            seen.put("step", step);
            seen.put("heard", heard);
            all.add(seen);
        }
        Map<String, Object> server = new LinkedHashMap<>();
        server.put("capabilities", hello.capabilities());
        server.put("info", hello.serverInfo());
        server.put("instructions", hello.instructions());
        server.put("protocol", hello.protocolVersion());
        return Map.of("server", server, "steps", all, "trouble", List.of());
    }

    private static McpClientTransport transport(String[] words) {
        if (words[0].equals("--url")) {
            java.net.URI url = java.net.URI.create(words[1]);
            return HttpClientStreamableHttpTransport.builder(url.resolve("/").toString()).endpoint(url.getPath()).build();
        }
        ServerParameters command = ServerParameters.builder(words[2])
            .args(Arrays.asList(words).subList(3, words.length))
            .env(System.getenv())
            .build();
        StdioClientTransport transport = new StdioClientTransport(command, JSON);
        transport.setStdErrorHandler(System.err::println);
        return transport;
    }

    public static void main(String[] words) throws IOException {
        if (words.length < 3 || !(words[0].equals("--url") || words[1].equals("--"))) {
            System.err.println("usage: Client SESSION.json -- COMMAND… | --url URL SESSION.json");
            System.exit(1);
        }
        Path file = Path.of(words[0].equals("--url") ? words[2] : words[0]);
        Map<String, Object> script = JSON.readValue(Files.readString(file), OBJECT);
        Client self = new Client(transport(words), JSON.convertValue(script.get("answers"), OBJECT));
        try {
            Map<String, Object> document = self.run(JSON.convertValue(script.get("steps"), OBJECTS));
            self.client.closeGracefully();
            System.out.println(JSON.writeValueAsString(document));
            System.exit(0);
        } catch (Exception error) {
            error.printStackTrace();
            System.exit(1);
        }
    }
}
