//! A scripted client: starts a command as its server or visits a URL, plays the steps of a session and prints one
//! JSON document of everything it received; the README one folder up describes both.

use std::borrow::Cow;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    ClientConfig, ClientRequest, ClientResult, ErrorData, JsonRpcMessage, ProtocolVersion, ServerNotification,
    ServerRequest, ServerResult,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, Peer, PeerRequestOptions, RequestContext, RequestHandle, RoleClient,
    RxJsonRpcMessage, Service, ServiceError, TxJsonRpcMessage, serve_client_with_lifecycle,
};
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport, TokioChildProcess, Transport};
use serde_json::{Map, Value, json};
use tokio::process::Command;
use tokio::sync::Notify;

use crate::{Failure, made};

const PATIENCE: Duration = Duration::from_secs(30);

/// Everything that arrived and belongs to no answer.
#[derive(Default)]
struct Ear {
    heard: Mutex<Vec<Value>>,
    progress: Mutex<HashMap<String, Vec<Value>>>, // by token
    news: Notify,
}

impl Ear {
    fn hear(&self, message: &RxJsonRpcMessage<RoleClient>) {
        let one = match message {
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => json!(message),
            _ => return,
        };
        let mut params = one.get("params").cloned().unwrap_or_else(|| json!({}));
        if one["method"] == "notifications/progress" {
            let token = params.as_object_mut().and_then(|of| of.remove("progressToken")).unwrap_or_default();
            self.progress.lock().unwrap().entry(token.to_string()).or_default().push(params);
        } else {
            self.heard.lock().unwrap().push(json!({"method": one["method"], "params": params}));
        }
        self.news.notify_waiters();
    }

    fn progress_of(&self, token: &str) -> Vec<Value> {
        self.progress.lock().unwrap().get(token).cloned().unwrap_or_default()
    }

    /// Waits until something is so, which can only change when a message arrives.
    async fn until(&self, so: impl Fn() -> bool) -> Result<(), Failure> {
        loop {
            let news = self.news.notified();
            if so() {
                return Ok(());
            }
            tokio::time::timeout(PATIENCE, news).await?;
        }
    }
}

/// A transport that lets the ear hear messages in the order of the wire, before the SDK acts on them.
struct Tapped<T> {
    inner: T,
    ear: Arc<Ear>,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Tapped<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.inner.receive().await;
        message.iter().for_each(|one| self.ear.hear(one));
        message
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

/// Gives the script's answers to the server's requests.
struct Answers(Map<String, Value>);

impl Service<RoleClient> for Answers {
    async fn handle_request(
        &self,
        request: ServerRequest,
        _: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let request = json!(request);
        let method = request["method"].as_str().unwrap_or_default();
        match self.0.get(method) {
            Some(answer) => Ok(made(answer.clone())),
            None if method == "ping" => Ok(ClientResult::empty(())),
            None => Err(ErrorData::internal_error(format!("no answer to {method}"), None)),
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
            "capabilities": {"roots": {"listChanged": true}, "sampling": {}, "elicitation": {}},
            "clientInfo": {"name": "mcpreel-rmcp-client", "version": "1.0.0"},
        }))
    }
}

struct Player {
    peer: Peer<RoleClient>,
    ear: Arc<Ear>,
    answers: Map<String, Value>,
}

impl Player {
    async fn send(&self, step: &Value) -> Result<RequestHandle<RoleClient>, ServiceError> {
        let mut request = json!({"method": step["ask"]});
        if let Some(params) = step.get("params") {
            request["params"] = params.clone();
        }
        self.peer.send_cancellable_request(made::<ClientRequest>(request), PeerRequestOptions::no_options()).await
    }

    fn seen(&self, token: &str, answer: Result<ServerResult, ServiceError>, step: &Value) -> Value {
        let mut seen = match answer {
            Ok(result) => json!({"result": result}),
            Err(ServiceError::McpError(error)) => json!({"error": error}),
            Err(error) => json!({"refused": error.to_string()}),
        };
        if step["progress"] == true {
            seen["progress"] = self.ear.progress_of(token).into();
        }
        seen
    }

    /// Asks again, with the answers to what the server asked for inside its result, until it asks for nothing more.
    async fn ask(&self, step: &Value) -> Result<Value, Failure> {
        let mut step = step.clone();
        loop {
            let handle = self.send(&step).await?;
            let token = json!(handle.progress_token).to_string();
            let seen = self.seen(&token, handle.await_response().await, &step);
            if seen["result"]["resultType"] != "input_required" {
                return Ok(seen);
            }
            let requests = seen["result"]["inputRequests"].as_object().cloned().unwrap_or_default();
            let answer = |of: &Value| self.answers.get(of["method"].as_str().unwrap_or_default()).cloned();
            let answers = requests.iter().map(|(key, of)| (key.clone(), answer(of).unwrap_or_default()));
            step["params"]["inputResponses"] = Value::Object(answers.collect());
            step["params"]["requestState"] = seen["result"]["requestState"].clone();
        }
    }

    async fn together(&self, steps: &[Value]) -> Result<Value, Failure> {
        let mut handles = Vec::new();
        for step in steps {
            handles.push((self.send(step).await?, step));
        }
        let mut seen = Vec::new();
        for (handle, step) in handles {
            let token = json!(handle.progress_token).to_string();
            seen.push(self.seen(&token, handle.await_response().await, step));
        }
        Ok(json!({"together": seen}))
    }

    /// Cancels a request at its first progress.
    async fn cancel(&self, step: &Value) -> Result<Value, Failure> {
        let handle = self.send(step).await?;
        let token = json!(handle.progress_token).to_string();
        self.ear.until(|| !self.ear.progress_of(&token).is_empty()).await?;
        handle.cancel(None).await?;
        Ok(json!({"cancelled": true, "progress": self.ear.progress_of(&token)}))
    }

    async fn play(&self, step: &Value) -> Result<Value, Failure> {
        let seen = if step.get("ask").is_some() {
            self.ask(step).await?
        } else if let Some(steps) = step["together"].as_array() {
            self.together(steps).await?
        } else if let Some(step) = step.get("cancel") {
            self.cancel(step).await?
        } else {
            json!({})
        };
        if let Some(method) = step.get("tell") {
            self.peer.send_notification(made(json!({"method": method}))).await?;
        }
        Ok(seen)
    }

    async fn run(&self, steps: &[Value]) -> Result<Value, Failure> {
        let (mut all, mut start) = (Vec::new(), 0);
        for step in steps {
            let mut seen = self.play(step).await?;
            let heard = |method: &Value| self.ear.heard.lock().unwrap()[start..].iter().any(|one| one["method"] == *method);
            if let Some(method) = step.get("until") {
                self.ear.until(|| heard(method)).await?;
            }
            let heard = self.ear.heard.lock().unwrap()[start..].to_vec();
            start += heard.len();
            seen["step"] = step.clone();
            seen["heard"] = heard.into();
            all.push(seen);
        }
        let hello = self.peer.peer_info().map(|info| json!(*info)).unwrap_or_default();
        let server = json!({
            "capabilities": hello["capabilities"], "info": hello["serverInfo"],
            "instructions": hello["instructions"], "protocol": hello["protocolVersion"],
        });
        Ok(json!({"server": server, "steps": all, "trouble": []}))
    }
}

async fn play<T, E, A>(transport: T, era: ClientLifecycleMode, script: &str) -> Result<(), Failure>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let script: Value = serde_json::from_str(&std::fs::read_to_string(script)?)?;
    let ear = Arc::new(Ear::default());
    let answers = script["answers"].as_object().cloned().unwrap_or_default();
    let tapped = Tapped { inner: transport.into_transport(), ear: ear.clone() };
    let running = serve_client_with_lifecycle(Answers(answers.clone()), tapped, era).await?;
    let player = Player { peer: running.peer().clone(), ear, answers };
    let document = player.run(script["steps"].as_array().ok_or("no steps")?).await?;
    running.cancel().await?;
    println!("{document:#}");
    Ok(())
}

pub async fn run(words: &[&str]) -> Result<(), Failure> {
    let (era, words) = match words {
        ["--era", "auto", rest @ ..] => (
            ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
            rest,
        ),
        _ => (ClientLifecycleMode::Initialize, words),
    };
    match words {
        ["--url", url, script] => play(StreamableHttpClientTransport::from_uri(*url), era, script).await,
        [script, "--", program, rest @ ..] => {
            let mut command = Command::new(program);
            command.args(rest);
            play(TokioChildProcess::new(command)?, era, script).await
        }
        _ => Err("usage: rmcp-peer client [--era auto] SESSION.json -- COMMAND… | --url URL SESSION.json".into()),
    }
}
