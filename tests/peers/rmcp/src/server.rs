//! A server for the session 'common', on stdio or over HTTP. Its answers depend only on the requests.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, ServiceExt};
use serde_json::{Value, json};

use crate::{Failure, made, result};

#[derive(Default)]
pub struct Common;

pub async fn on_stdio() -> Result<(), Failure> {
    Common.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}

fn text(said: impl ToString) -> Value {
    json!({"content": [{"type": "text", "text": said.to_string()}]})
}

fn tool(name: &str, description: &str, arguments: &[(&str, &str)]) -> Value {
    let properties = arguments.iter().map(|(name, kind)| (name.to_string(), json!({"type": kind})));
    let required: Vec<_> = arguments.iter().map(|(name, _)| name).collect();
    json!({
        "name": name, "description": description,
        "inputSchema": {"type": "object", "properties": Value::Object(properties.collect()), "required": required},
    })
}

fn invalid(why: &str) -> ErrorData {
    ErrorData::invalid_params(why.to_string(), None)
}

fn integer(arguments: &Value, name: &str) -> Result<i64, ErrorData> {
    arguments[name].as_i64().ok_or_else(|| invalid(&format!("'{name}' is not an integer")))
}

fn string<'a>(arguments: &'a Value, name: &str) -> Result<&'a str, ErrorData> {
    arguments[name].as_str().ok_or_else(|| invalid(&format!("'{name}' is not a string")))
}

async fn count(to: i64, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    let Some(token) = context.meta.get_progress_token() else { return Ok(()) };
    for i in 1..=to {
        let params = json!({"progressToken": token, "progress": i, "total": to, "message": format!("step {i} of {to}")});
        let told = context.peer.notify_progress(made(params)).await;
        told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    }
    Ok(())
}

impl ServerHandler for Common {
    fn get_info(&self) -> ServerConfig {
        made(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "mcpreel-rmcp-server", "version": "1.0.0"},
            "instructions": "Every question gets the same answer each time.",
        }))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(result(json!({"tools": [
            tool("add", "Add two integers.", &[("a", "integer"), ("b", "integer")]),
            tool("echo", "Return the text.", &[("text", "string")]),
            tool("weather", "Structured output.", &[("city", "string")]),
            tool("count", "Count with progress.", &[("to", "integer")]),
            tool("slow", "Answer late, so that a faster call overtakes it.", &[("ms", "integer")]),
            tool("fail", "A tool error: a result with isError.", &[("why", "string")]),
        ]})))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = json!(request.arguments);
        let answer = match request.name.as_ref() {
            "add" => text(integer(&arguments, "a")? + integer(&arguments, "b")?),
            "echo" => text(string(&arguments, "text")?),
            "weather" => {
                let weather = json!({"city": string(&arguments, "city")?, "celsius": -1.5, "words": ["clear", "cold"]});
                let mut result = text(&weather);
                result["structuredContent"] = weather;
                result
            }
            "count" => {
                let to = integer(&arguments, "to")?;
                count(to, &context).await?;
                text(format!("counted to {to}"))
            }
            "slow" => {
                let ms = integer(&arguments, "ms")?;
                tokio::time::sleep(Duration::from_millis(ms as u64)).await;
                text(format!("waited {ms} ms"))
            }
            "fail" => {
                let mut result = text(string(&arguments, "why")?);
                result["isError"] = true.into();
                result
            }
            name => return Err(invalid(&format!("no tool '{name}'"))),
        };
        Ok(result::<CallToolResult>(answer).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(result(json!({"resources": [{"uri": "memo://today", "name": "today", "mimeType": "text/plain"}]})))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let letter = json!({"uriTemplate": "memo://letters/{name}", "name": "letter", "mimeType": "text/plain"});
        Ok(result(json!({"resourceTemplates": [letter]})))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let said = match uri.strip_prefix("memo://letters/") {
            Some(name) => format!("Dear {name},\n\tthis is \"quoted\" \\ and \u{1} is a control character.\n"),
            None if uri == "memo://today" => "buy tape\n".to_string(),
            None => return Err(ErrorData::resource_not_found(format!("no resource '{uri}'"), None)),
        };
        let contents = json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": said}]});
        Ok(result::<ReadResourceResult>(contents).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(result(json!({"prompts": [{
            "name": "greet", "description": "A prompt with one required argument.",
            "arguments": [{"name": "name", "required": true}],
        }]})))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = json!(request.arguments);
        if request.name != "greet" {
            return Err(invalid(&format!("no prompt '{}'", request.name)));
        }
        let said = format!("Greet {} in a warm tone.", string(&arguments, "name")?);
        let prompt = json!({"messages": [{"role": "user", "content": {"type": "text", "text": said}}]});
        Ok(result::<GetPromptResult>(prompt).into())
    }
}
