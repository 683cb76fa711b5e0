// A scripted stdio MCP client on the official Go SDK.
//
//	client [--era auto] SESSION.json -- COMMAND…
//
// Starts COMMAND as its server, plays the steps of SESSION.json and prints one JSON document, keys
// sorted, of all it got to see; the README one folder up describes both.
//
// --era legacy (the default) opens with initialize; auto asks server/discover first and speaks
// 2026-07-28 with a server that does.
//
// Exit codes: 0 the session was played to its end, whatever the answers; 1 it could not be.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const patience = 30 * time.Second

type object = map[string]any

type step struct {
	Ask      string          `json:"ask"`
	Params   json.RawMessage `json:"params"`
	Progress bool            `json:"progress"`
	Together []step          `json:"together"`
	Cancel   *step           `json:"cancel"`
	Tell     string          `json:"tell"`
	Until    string          `json:"until"`
}

type script struct {
	Answers map[string]json.RawMessage `json:"answers"`
	Steps   []json.RawMessage          `json:"steps"`
}

// ear notes what arrives, in the order of the wire and before the SDK acts on it: the SDK hands
// answers and notifications over on ways of their own.
type ear struct {
	mcp.Connection
	player *player
}

func (e ear) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := e.Connection.Read(ctx)
	if request, ok := message.(*jsonrpc.Request); err == nil && ok {
		e.player.hear(request.Method, request.Params)
	}
	return message, err
}

type transport struct {
	inner  mcp.Transport
	player *player
}

func (t transport) Connect(ctx context.Context) (mcp.Connection, error) {
	connection, err := t.inner.Connect(ctx)
	return ear{connection, t.player}, err
}

type player struct {
	script  script
	session *mcp.ClientSession

	mu       sync.Mutex
	heard    []any
	news     chan struct{} // closed and replaced at each arrival
	progress map[string]*report
}

// report gathers the progress of one request.
type report struct {
	seen    []any
	onfirst func()
}

func (p *player) hear(method string, raw json.RawMessage) {
	params, _ := value(raw).(object)
	if params == nil {
		params = object{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if method == "notifications/progress" {
		r := p.progress[fmt.Sprint(params["progressToken"])]
		if r == nil {
			fail(fmt.Errorf("progress for an unknown token: %s", raw))
		}
		delete(params, "progressToken")
		r.seen = append(r.seen, params)
		if r.onfirst != nil {
			r.onfirst()
		}
		return
	}
	p.heard = append(p.heard, object{"method": method, "params": params})
	close(p.news)
	p.news = make(chan struct{})
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "client:", err)
	os.Exit(1)
}

// value decodes what the server said with every digit of its numbers.
func value(raw []byte) any {
	if len(raw) == 0 {
		return nil
	}
	var out any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		fail(err)
	}
	return out
}

func plain(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		fail(err)
	}
	return value(raw)
}

// as decodes params or an answer into what the SDK wants to be given.
func as[T any](raw json.RawMessage) *T {
	out := new(T)
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, out); err != nil {
			fail(err)
		}
	}
	return out
}

func with[P, R any](call func(context.Context, *P) (R, error), ctx context.Context, raw json.RawMessage) (any, error) {
	return call(ctx, as[P](raw))
}

func without[P any](call func(context.Context, *P) error, ctx context.Context, raw json.RawMessage) (any, error) {
	return object{}, call(ctx, as[P](raw))
}

func (p *player) call(ctx context.Context, s step, token any) (any, error) {
	cs := p.session
	switch s.Ask {
	case "completion/complete":
		return with(cs.Complete, ctx, s.Params)
	case "logging/setLevel":
		return without(cs.SetLoggingLevel, ctx, s.Params)
	case "ping":
		return without(cs.Ping, ctx, s.Params)
	case "prompts/get":
		return with(cs.GetPrompt, ctx, s.Params)
	case "prompts/list":
		return with(cs.ListPrompts, ctx, s.Params)
	case "resources/list":
		return with(cs.ListResources, ctx, s.Params)
	case "resources/read":
		return with(cs.ReadResource, ctx, s.Params)
	case "resources/subscribe":
		return without(cs.Subscribe, ctx, s.Params)
	case "resources/templates/list":
		return with(cs.ListResourceTemplates, ctx, s.Params)
	case "resources/unsubscribe":
		return without(cs.Unsubscribe, ctx, s.Params)
	case "tools/list":
		return with(cs.ListTools, ctx, s.Params)
	case "tools/call":
		params := as[mcp.CallToolParams](s.Params)
		if token != nil {
			params.SetProgressToken(token)
		}
		return cs.CallTool(ctx, params)
	}
	return nil, fmt.Errorf("cannot ask '%s'", s.Ask)
}

// register makes a token for a request that wants progress; nil for others.
func (p *player) register(s step, onfirst func()) (any, *report) {
	if !s.Progress {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	token, r := fmt.Sprintf("token-%d", len(p.progress)), &report{onfirst: onfirst, seen: []any{}}
	p.progress[token] = r
	return token, r
}

func (p *player) ask(s step, token any, r *report, ctx context.Context) object {
	seen := object{}
	result, err := p.call(ctx, s, token)
	var wire *jsonrpc.Error
	switch {
	case err == nil:
		seen["result"] = plain(result)
	case ctx.Err() != nil:
		seen["cancelled"] = true
	case errors.As(err, &wire):
		seen["error"] = object{"code": wire.Code, "message": wire.Message, "data": value(wire.Data)}
	default:
		seen["refused"] = err.Error()
	}
	if r != nil {
		p.mu.Lock()
		seen["progress"] = r.seen
		p.mu.Unlock()
	}
	return seen
}

func (p *player) together(steps []step) []any {
	seen := make([]any, len(steps))
	var all sync.WaitGroup
	for i, s := range steps {
		token, r := p.register(s, nil)
		all.Go(func() { seen[i] = p.ask(s, token, r, context.Background()) })
	}
	all.Wait()
	return seen
}

func (p *player) until(method string, start int) error {
	for timeout := time.After(patience); ; {
		p.mu.Lock()
		news, heard := p.news, p.heard[start:]
		p.mu.Unlock()
		for _, one := range heard {
			if one.(object)["method"] == method {
				return nil
			}
		}
		select {
		case <-news:
		case <-timeout:
			return fmt.Errorf("'%s' did not come", method)
		}
	}
}

func (p *player) play(s step, client *mcp.Client) object {
	seen := object{}
	switch {
	case s.Ask != "":
		token, r := p.register(s, nil)
		seen = p.ask(s, token, r, context.Background())
	case s.Together != nil:
		seen["together"] = p.together(s.Together)
	case s.Cancel != nil:
		ctx, cancel := context.WithCancel(context.Background())
		s.Cancel.Progress = true
		token, r := p.register(*s.Cancel, cancel)
		seen = p.ask(*s.Cancel, token, r, ctx)
		cancel()
	}
	if s.Tell == "notifications/roots/list_changed" {
		client.AddRoots(&mcp.Root{URI: "file:///srv/more"}) // the SDK tells it when it is so
	} else if s.Tell != "" {
		fail(fmt.Errorf("cannot tell '%s'", s.Tell))
	}
	return seen
}

func (p *player) run(client *mcp.Client) object {
	steps, start := []any{}, 0
	for _, raw := range p.script.Steps {
		s := *as[step](raw)
		seen := p.play(s, client)
		if s.Until != "" {
			if err := p.until(s.Until, start); err != nil {
				fail(err)
			}
		}
		p.mu.Lock()
		seen["step"], seen["heard"] = value(raw), append([]any{}, p.heard[start:]...)
		start = len(p.heard)
		p.mu.Unlock()
		steps = append(steps, seen)
	}
	hello := p.session.InitializeResult()
	server := object{"capabilities": plain(hello.Capabilities), "info": plain(hello.ServerInfo),
		"instructions": hello.Instructions, "protocol": hello.ProtocolVersion}
	return object{"server": server, "steps": steps, "trouble": []any{}}
}

func (p *player) client() *mcp.Client {
	client := mcp.NewClient(&mcp.Implementation{Name: "mcpreel-go-client", Version: "1.0.0"}, &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return as[mcp.CreateMessageResult](p.script.Answers["sampling/createMessage"]), nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return as[mcp.ElicitResult](p.script.Answers["elicitation/create"]), nil
		},
	})
	client.AddRoots(as[mcp.ListRootsResult](p.script.Answers["roots/list"]).Roots...)
	return client
}

func main() {
	era := flag.String("era", "legacy", "legacy or auto")
	flag.Parse()
	args := flag.Args()
	if len(args) < 3 || args[1] != "--" || (*era != "legacy" && *era != "auto") {
		fail(errors.New("usage: client [--era legacy|auto] SESSION.json -- COMMAND…"))
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		fail(err)
	}
	p := &player{script: *as[script](text), news: make(chan struct{}), progress: map[string]*report{}}
	command := exec.Command(args[2], args[3:]...)
	command.Stderr = os.Stderr
	client, options := p.client(), &mcp.ClientSessionOptions{}
	if *era == "legacy" {
		options.ProtocolVersion = "2025-11-25"
	}
	p.session, err = client.Connect(context.Background(), transport{&mcp.CommandTransport{Command: command}, p}, options)
	if err != nil {
		fail(err)
	}
	document := p.run(client)
	p.session.Close() // the server's exit code is the witness's to tell
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", " ")
	if err := out.Encode(document); err != nil {
		fail(err)
	}
}
