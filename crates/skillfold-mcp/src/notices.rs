//! Notices to clients that what they were offered is another now.

use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use tokio::sync::watch::{Receiver, Sender};

/// How often it is looked whether a client that hears nothing is still there.
const GLANCE: Duration = Duration::from_secs(30);

/// Tells connections that the skills changed; several changes at once are one.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    changes: Sender<u64>,
}

impl Notices {
    /// Tells all connections.
    pub(crate) fn changed(&self) {
        self.changes
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Tells one client of each change, by the notices of the older protocol, until it is gone.
    pub(crate) fn tell(&self, peer: Peer<RoleServer>) {
        let mut changes = self.changes.subscribe();
        tokio::spawn(async move {
            while is_changed(&mut changes, &peer).await {
                let told = async {
                    peer.notify_tool_list_changed().await?;
                    peer.notify_prompt_list_changed().await?;
                    peer.notify_resource_list_changed().await
                };
                if told.await.is_err() {
                    break;
                }
            }
        });
    }

    /// Tells one subscription of each change, until it is cancelled.
    pub(crate) async fn follow(&self, subscription: SubscriptionContext) {
        let mut changes = self.changes.subscribe();
        let (sink, accepted) = (subscription.sink(), subscription.accepted());
        loop {
            tokio::select! {
                () = subscription.cancelled() => return,
                news = changes.changed() => if news.is_err() { return },
            }
            let told = async {
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
            if told.await.is_err() {
                return;
            }
        }
    }
}

/// Returns what of a subscription is taken: lists that change, and no single files.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    accepted.resource_subscriptions = None;
    accepted
}

/// Waits for the next change; `false` if the client is gone.
async fn is_changed(changes: &mut Receiver<u64>, peer: &Peer<RoleServer>) -> bool {
    loop {
        match tokio::time::timeout(GLANCE, changes.changed()).await {
            Ok(news) => return news.is_ok(),
            Err(_) if peer.is_transport_closed() => return false,
            Err(_) => {}
        }
    }
}
