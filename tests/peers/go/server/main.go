// An MCP server on the official Go SDK, on stdio: what the session 'common' asks for.
//
// Everything it says depends only on what it is asked.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type sum struct {
	A int `json:"a"`
	B int `json:"b"`
}

type words struct {
	Text string `json:"text"`
}

type limit struct {
	To int `json:"to"`
}

type delay struct {
	MS int `json:"ms"`
}

type reason struct {
	Why string `json:"why"`
}

type place struct {
	City string `json:"city"`
}

type weather struct {
	City    string   `json:"city"`
	Celsius float64  `json:"celsius"`
	Words   []string `json:"words"`
}

type answer = *mcp.CallToolResult

func text(format string, args ...any) answer {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

func tool[In, Out any](s *mcp.Server, name, about string, handler mcp.ToolHandlerFor[In, Out]) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: about}, handler)
}

func addTools(s *mcp.Server) {
	tool(s, "add", "Add two integers.",
		func(_ context.Context, _ *mcp.CallToolRequest, in sum) (answer, any, error) {
			return text("%d", in.A+in.B), nil, nil
		})
	tool(s, "echo", "Give the text back.",
		func(_ context.Context, _ *mcp.CallToolRequest, in words) (answer, any, error) {
			return text("%s", in.Text), nil, nil
		})
	tool(s, "weather", "Structured output with a schema.",
		func(_ context.Context, _ *mcp.CallToolRequest, in place) (answer, weather, error) {
			return nil, weather{in.City, -1.5, []string{"clear", "cold"}}, nil
		})
	tool(s, "count", "Count with progress.", count)
	tool(s, "slow", "Answer late, so that a faster call overtakes it.",
		func(_ context.Context, _ *mcp.CallToolRequest, in delay) (answer, any, error) {
			time.Sleep(time.Duration(in.MS) * time.Millisecond)
			return text("waited %d ms", in.MS), nil, nil
		})
	tool(s, "fail", "A tool error: an ordinary result with isError.",
		func(_ context.Context, _ *mcp.CallToolRequest, in reason) (answer, any, error) {
			return nil, nil, errors.New(in.Why)
		})
}

func count(ctx context.Context, req *mcp.CallToolRequest, in limit) (answer, any, error) {
	token := req.Params.GetProgressToken()
	for i := 1; token != nil && i <= in.To; i++ {
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(i), Total: float64(in.To),
			Message: fmt.Sprintf("step %d of %d", i, in.To)})
		if err != nil {
			return nil, nil, err
		}
	}
	return text("counted to %d", in.To), nil, nil
}

func read(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	said := "buy tape\n"
	if name, ok := strings.CutPrefix(req.Params.URI, "memo://letters/"); ok {
		said = fmt.Sprintf("Dear %s,\n\tthis is \"quoted\" \\ and \u0001 is a control character.\n", name)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: req.Params.URI, MIMEType: "text/plain", Text: said}}}, nil
}

func greet(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	name := req.Params.Arguments["name"]
	if name == "" {
		return nil, errors.New("greet whom?")
	}
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
		{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprintf("Greet %s in a warm tone.", name)}}}}, nil
}

func main() {
	s := mcp.NewServer(&mcp.Implementation{Name: "mcpreel-go-server", Version: "1.0.0"},
		&mcp.ServerOptions{Instructions: "Ask me anything twice: the answer is the same."})
	addTools(s)
	s.AddResource(&mcp.Resource{URI: "memo://today", Name: "today", MIMEType: "text/plain"}, read)
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "memo://letters/{name}", Name: "letter",
		MIMEType: "text/plain"}, read)
	s.AddPrompt(&mcp.Prompt{Name: "greet", Description: "A prompt with one required argument.",
		Arguments: []*mcp.PromptArgument{{Name: "name", Required: true}}}, greet)
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}
