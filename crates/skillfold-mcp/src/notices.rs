//! Change notifications to clients.

use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use tokio::sync::watch::{Receiver, Sender};

/// How often to check whether a silent client is still connected.
const LIVENESS_INTERVAL: Duration = Duration::from_secs(30);

/// Notifies connections that the skills changed. Several changes at once are merged into one.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    changes: Sender<u64>,
}

impl Notices {
    /// Notifies all connections.
    pub(crate) fn notify_all(&self) {
        self.changes
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Spawns a task that sends one client the older protocol's notifications for each change, until the client is
    /// gone.
    pub(crate) fn spawn_for_peer(&self, peer: Peer<RoleServer>) {
        let mut changes = self.changes.subscribe();
        tokio::spawn(async move {
            while wait_for_change(&mut changes, &peer).await {
                let sent = async {
                    peer.notify_tool_list_changed().await?;
                    peer.notify_prompt_list_changed().await?;
                    peer.notify_resource_list_changed().await
                };
                if sent.await.is_err() {
                    break;
                }
            }
        });
    }

    /// Notifies one subscription of each change, until it is cancelled.
    pub(crate) async fn run_subscription(&self, subscription: SubscriptionContext) {
        let mut changes = self.changes.subscribe();
        let (sink, accepted) = (subscription.sink(), subscription.accepted());
        loop {
            tokio::select! {
                () = subscription.cancelled() => return,
                result = changes.changed() => if result.is_err() { return },
            }
            let sent = async {
                if accepted.tools_list_changed == Some(true) {
                    sink.notify_tool_list_changed().await?;
                }
                if accepted.prompts_list_changed == Some(true) {
                    sink.notify_prompt_list_changed().await?;
                }
                if accepted.resources_list_changed == Some(true) {
                    sink.notify_resource_list_changed().await?;
                }
                Ok::<(), rmcp::service::SubscriptionSendError>(())
            };
            if sent.await.is_err() {
                return;
            }
        }
    }
}

/// Returns the accepted part of a subscription: lists that change, but no single files.
pub(crate) fn accepted_filter(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    accepted.resource_subscriptions = None;
    accepted
}

/// Waits for the next change. Returns `false` if the client is gone.
async fn wait_for_change(changes: &mut Receiver<u64>, peer: &Peer<RoleServer>) -> bool {
    loop {
        match tokio::time::timeout(LIVENESS_INTERVAL, changes.changed()).await {
            Ok(result) => return result.is_ok(),
            Err(_) if peer.is_transport_closed() => return false,
            Err(_) => {}
        }
    }
}
