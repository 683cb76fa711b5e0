//! A client over Streamable HTTP for the client scenarios of the official conformance suite, but for authorization
//! and skills. The suite names the scenario, the revision and what else there is to know in the environment.

use std::env::var;

use rmcp::model::{
    CallToolRequestParams, ClientConfig, ClientResult, ErrorData, ProtocolVersion, ServerNotification, ServerRequest, Tool,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, RequestContext, RoleClient, RunningService, Service,
    serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Map, Value, json};

use crate::{Failure, made};

/// Accepts every elicitation: with the defaults of its form, and true where a form wants something confirmed.
struct Accepting;

fn accepted(form: &Value) -> Value {
    let mut content = Map::new();
    for (name, of) in form["properties"].as_object().into_iter().flatten() {
        if let Some(value) = of.get("default") {
            content.insert(name.clone(), value.clone());
        } else if name == "confirmed" {
            content.insert(name.clone(), true.into());
        }
    }
    json!({"action": "accept", "content": content})
}

impl Service<RoleClient> for Accepting {
    async fn handle_request(
        &self,
        request: ServerRequest,
        _: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let request = json!(request);
        match request["method"].as_str().unwrap_or_default() {
            "elicitation/create" => Ok(ClientResult::ElicitResult(made(accepted(&request["params"]["requestedSchema"])))),
            "ping" => Ok(ClientResult::empty(())),
            method => Err(ErrorData::invalid_request(format!("no answer to {method}"), None)),
        }
    }

    async fn handle_notification(
        &self,
        _: ServerNotification,
        _: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        made(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {"form": {}}},
            "clientInfo": {"name": "mcpreel-rmcp-conformance-client", "version": "1.0.0"},
        }))
    }
}

type Running = RunningService<RoleClient, Accepting>;

async fn call(client: &Running, name: &str, arguments: Value) -> Result<(), Failure> {
    client.call_tool(made::<CallToolRequestParams>(json!({"name": name, "arguments": arguments}))).await?;
    Ok(())
}

/// Lists everything there is and uses the first of each kind.
async fn use_each(client: &Running, tools: &[Tool]) -> Result<(), Failure> {
    call(client, &tools[0].name, json!({})).await?;
    let resources = client.list_all_resources().await?;
    client.read_resource(made(json!({"uri": resources[0].uri}))).await?;
    let prompts = client.list_all_prompts().await?;
    client.get_prompt(made(json!({"name": prompts[0].name}))).await?;
    Ok(())
}

async fn several_rounds(client: &Running) -> Result<(), Failure> {
    for name in ["test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated"] {
        call(client, name, json!({})).await?;
    }
    if let Err(error) = call(client, "test_mrtr_no_result_type", json!({})).await {
        eprintln!("{error}"); // an answer that the SDK does not take
    }
    Ok(())
}

async fn echo_schema(client: &Running, tools: &[Tool]) -> Result<(), Failure> {
    let tool = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool").ok_or("no such tool")?;
    call(client, "json_schema_echo", json!({"schema": tool.input_schema})).await
}

async fn act(client: &Running, scenario: &str) -> Result<(), Failure> {
    let tools = client.list_all_tools().await?;
    match scenario {
        "tools_call" => call(client, "add_numbers", json!({"a": 5, "b": 3})).await,
        "elicitation-sep1034-client-defaults" => call(client, "test_client_elicitation_defaults", json!({})).await,
        "sse-retry" => call(client, "test_reconnection", json!({})).await,
        "http-standard-headers" => use_each(client, &tools).await,
        "http-custom-headers" => {
            let context: Value = serde_json::from_str(&var("MCP_CONFORMANCE_CONTEXT")?)?;
            for one in context["toolCalls"].as_array().ok_or("no calls")? {
                call(client, one["name"].as_str().ok_or("no name")?, one["arguments"].clone()).await?;
            }
            Ok(())
        }
        "http-invalid-tool-headers" => {
            for tool in &tools {
                call(client, &tool.name, json!({"region": "us-west1"})).await?;
            }
            Ok(())
        }
        "sep-2322-client-request-state" => several_rounds(client).await,
        "json-schema-2020-12-preservation" => echo_schema(client, &tools).await,
        _ => Ok(()),
    }
}

pub async fn run(url: &str) -> Result<(), Failure> {
    let era = match var("MCP_CONFORMANCE_PROTOCOL_VERSION").as_deref() {
        Ok("2026-07-28") => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
        _ => ClientLifecycleMode::Initialize,
    };
    let client = serve_client_with_lifecycle(Accepting, StreamableHttpClientTransport::from_uri(url), era).await?;
    let done = act(&client, &var("MCP_CONFORMANCE_SCENARIO")?).await;
    client.cancel().await?;
    done
}
