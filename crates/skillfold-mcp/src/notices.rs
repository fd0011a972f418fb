//! Change notifications to clients.

use rmcp::model::SubscriptionFilter;
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use tokio::sync::watch::Sender;
use tokio::task::AbortHandle;

/// Notifies connections that the skills changed. Merges several changes into one notification.
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

    /// Spawns a task that sends one client the older protocol's notifications for each change, until the returned value
    /// is dropped.
    pub(crate) fn spawn_for_peer(&self, peer: Peer<RoleServer>) -> NotifierTask {
        let mut changes = self.changes.subscribe();
        let task = tokio::spawn(async move {
            while changes.changed().await.is_ok() {
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
        NotifierTask(task.abort_handle())
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

/// A task that notifies one client. It holds the client's connection, so it ends with the session.
#[derive(Debug)]
pub(crate) struct NotifierTask(AbortHandle);

impl Drop for NotifierTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Returns the accepted part of a subscription: lists that change, but no single files.
pub(crate) fn accepted_filter(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    accepted.resource_subscriptions = None;
    accepted
}
