//! A server over Streamable HTTP for the server scenarios of the official conformance suite, as far as the SDK goes
//! without its macros: no tasks, no sealed state. The names, texts and schemas are those the suite looks for.
#![allow(deprecated)] // logging/setLevel, which the older revisions have

use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use crate::{made, result};

#[derive(Default)]
pub struct Conformance;

type Context = RequestContext<RoleServer>;

const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
const PACE: Duration = Duration::from_millis(50); // between the notifications of one call

fn text(said: &str) -> Value {
    json!({"type": "text", "text": said})
}

fn image() -> Value {
    json!({"type": "image", "data": PIXEL, "mimeType": "image/png"})
}

fn resource(uri: &str, kind: &str, said: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": said}})
}

fn content(parts: Value) -> Value {
    json!({"content": parts})
}

fn say(said: &str) -> Value {
    content(json!([text(said)]))
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

async fn notify(context: &Context, method: &str, params: Value) -> Result<(), ErrorData> {
    let notification = made(json!({"method": method, "params": params}));
    context.peer.send_notification(notification).await.map_err(failed)?;
    tokio::time::sleep(PACE).await;
    Ok(())
}

async fn log(context: &Context) -> Result<Value, ErrorData> {
    for data in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        notify(context, "notifications/message", json!({"level": "info", "data": data})).await?;
    }
    Ok(say("logged three lines"))
}

async fn progress(context: &Context) -> Result<Value, ErrorData> {
    if let Some(token) = context.meta.get_progress_token() {
        for done in [0, 50, 100] {
            let params = json!({"progressToken": token, "progress": done, "total": 100});
            notify(context, "notifications/progress", params).await?;
        }
    }
    Ok(say("sent progress"))
}

fn sampling(prompt: &str) -> Value {
    json!({
        "method": "sampling/createMessage",
        "params": {"messages": [{"role": "user", "content": text(prompt)}], "maxTokens": 100},
    })
}

fn form(message: &str, properties: Value) -> Value {
    json!({
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": {"type": "object", "properties": properties}},
    })
}

/// Sends a request to the client and puts the answer into the result.
async fn ask(context: &Context, request: Value) -> Result<Value, ErrorData> {
    let answer = context.peer.send_request(made(request)).await.map_err(failed)?;
    Ok(say(&format!("the client says: {}", json!(answer))))
}

fn defaults() -> Value {
    json!({
        "name": {"type": "string", "description": "A name", "default": "John Doe"},
        "age": {"type": "integer", "description": "In years", "default": 30},
        "score": {"type": "number", "description": "Of 100", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "description": "Verified or not", "default": true},
    })
}

fn titled(names: [&str; 3]) -> Value {
    (1..).zip(names).map(|(i, title)| json!({"const": format!("value{i}"), "title": title})).collect()
}

fn choices() -> Value {
    let options = json!(["option1", "option2", "option3"]);
    json!({
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled(["One", "Two", "Three"])},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"anyOf": titled(["Red", "Green", "Blue"])}},
    })
}

fn schema_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef", "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

const PLAIN_TOOLS: [&str; 14] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_tool_with_progress",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
];

/// A tool of two rounds: what it asks for under which key, and what the answer must have.
fn second_round(name: &str) -> Option<(&'static str, Value, &'static str)> {
    match name {
        "test_input_required_result_elicitation" => {
            Some(("user_name", form("What is your name?", json!({"name": {"type": "string"}})), "/content/name"))
        }
        "test_input_required_result_sampling" => {
            Some(("capital_question", sampling("What is the capital of France?"), "/content/text"))
        }
        "test_input_required_result_list_roots" => {
            Some(("client_roots", json!({"method": "roots/list"}), "/roots/0/uri"))
        }
        _ => None,
    }
}

fn rounds(request: &CallToolRequestParams) -> Option<CallToolResponse> {
    let (key, ask, answer) = second_round(&request.name)?;
    let given = json!(request.input_responses);
    Some(match given[key].pointer(answer).and_then(Value::as_str) {
        Some(said) => result::<CallToolResult>(say(&format!("Hello, {said}!"))).into(),
        None => made::<InputRequiredResult>(json!({"resultType": "input_required", "inputRequests": {key: ask}})).into(),
    })
}

async fn result_of(name: &str, arguments: &Value, context: &Context) -> Result<Value, ErrorData> {
    let argument = |name: &str| arguments[name].as_str().unwrap_or_default();
    Ok(match name {
        "test_simple_text" => say("This is a simple text response for testing."),
        "test_image_content" => content(json!([image()])),
        "test_audio_content" => content(json!([{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}])),
        "test_embedded_resource" => content(json!([
            resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
        ])),
        "test_multiple_content_types" => content(json!([
            text("Multiple content types test:"),
            image(),
            resource("test://mixed-content-resource", "application/json", "{\"test\":\"data\",\"value\":123}"),
        ])),
        "test_error_handling" => {
            json!({"isError": true, "content": [text("This tool intentionally returns an error for testing")]})
        }
        "test_tool_with_logging" => log(context).await?,
        "test_logging_tool" => say("logged nothing"),
        "test_tool_with_progress" => progress(context).await?,
        "test_sampling" => ask(context, sampling(argument("prompt"))).await?,
        "test_elicitation" => {
            let wanted = json!({"username": {"type": "string"}, "email": {"type": "string"}});
            ask(context, form(argument("message"), wanted)).await?
        }
        "test_elicitation_sep1034_defaults" => ask(context, form("Is this right?", defaults())).await?,
        "test_elicitation_sep1330_enums" => ask(context, form("Choose", choices())).await?,
        "json_schema_2020_12_tool" => say(&arguments.to_string()),
        _ => return Err(ErrorData::invalid_params(format!("no tool '{name}'"), None)),
    })
}

fn contents(uri: &str) -> Option<Value> {
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    Some(match uri {
        "test://static-text" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PIXEL}),
        "test://watched-resource" => json!({"uri": uri, "mimeType": "text/plain", "text": "Nothing has changed yet."}),
        _ => json!({
            "uri": uri, "mimeType": "application/json", "text": json!({"id": id?, "templateTest": true}).to_string(),
        }),
    })
}

fn messages(name: &str, arguments: &Value) -> Option<Value> {
    let argument = |name: &str| arguments[name].as_str().unwrap_or_default();
    Some(match name {
        "test_simple_prompt" => json!([text("This is a simple prompt for testing.")]),
        "test_prompt_with_arguments" => json!([text(&format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1"),
            argument("arg2")
        ))]),
        "test_prompt_with_embedded_resource" => json!([
            resource(argument("resourceUri"), "text/plain", "The subject of the prompt."),
            text("What does it say?"),
        ]),
        "test_prompt_with_image" => json!([image(), text("What does it show?")]),
        _ => return None,
    })
}

impl ServerHandler for Conformance {
    fn get_info(&self) -> ServerConfig {
        made(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "tools": {}, "prompts": {}, "resources": {"subscribe": true}, "logging": {}, "completions": {},
            },
            "serverInfo": {"name": "mcpreel-rmcp-conformance-server", "version": "1.0.0"},
        }))
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: Context) -> Result<ListToolsResult, ErrorData> {
        let tool = |name: &str, schema: Value| json!({"name": name, "description": "A tool.", "inputSchema": schema});
        let taking = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
        let mut tools: Vec<_> = PLAIN_TOOLS.map(|name| tool(name, json!({"type": "object"}))).into();
        tools.push(tool("test_sampling", taking("prompt")));
        tools.push(tool("test_elicitation", taking("message")));
        tools.push(tool("json_schema_2020_12_tool", schema_2020_12()));
        Ok(result(json!({"tools": tools})))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        if let Some(response) = rounds(&request) {
            return Ok(response);
        }
        let answer = result_of(&request.name, &json!(request.arguments), &context).await?;
        Ok(result::<CallToolResult>(answer).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let names = ["static-text", "static-binary", "watched-resource"];
        let resources = names.map(|name| json!({"uri": format!("test://{name}"), "name": name, "description": "Fixed."}));
        Ok(result(json!({"resources": resources})))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = json!({"uriTemplate": "test://template/{id}/data", "name": "template", "description": "By id."});
        Ok(result(json!({"resourceTemplates": [template]})))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let found = contents(&request.uri)
            .ok_or_else(|| ErrorData::resource_not_found("no such resource", Some(json!({"uri": request.uri}))))?;
        Ok(result::<ReadResourceResult>(json!({"contents": [found]})).into())
    }

    async fn list_prompts(&self, _: Option<PaginatedRequestParams>, _: Context) -> Result<ListPromptsResult, ErrorData> {
        let prompt = |name: &str, arguments: &[&str]| {
            let arguments: Vec<_> = arguments.iter().map(|one| json!({"name": one, "required": true})).collect();
            json!({"name": name, "description": "A prompt.", "arguments": arguments})
        };
        Ok(result(json!({"prompts": [
            prompt("test_simple_prompt", &[]),
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            prompt("test_prompt_with_image", &[]),
        ]})))
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, _: Context) -> Result<GetPromptResponse, ErrorData> {
        let parts = messages(&request.name, &json!(request.arguments))
            .ok_or_else(|| ErrorData::invalid_params(format!("no prompt '{}'", request.name), None))?;
        let from = |part: &Value| json!({"role": "user", "content": part});
        let messages: Vec<_> = parts.as_array().into_iter().flatten().map(from).collect();
        Ok(result::<GetPromptResult>(json!({"messages": messages})).into())
    }

    async fn complete(&self, request: CompleteRequestParams, _: Context) -> Result<CompleteResult, ErrorData> {
        let values = [format!("{}1", request.argument.value)];
        Ok(result(json!({"completion": {"values": values, "total": 1, "hasMore": false}})))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }
}
