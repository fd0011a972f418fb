//! Gets files by HTTP, with limits on everything that a server can send.

use std::io::Read;
use std::thread;
use std::time::{Duration, SystemTime};

use skillfold_core::diagnostic::visible;
use skillfold_core::{Error, ErrorKind};
use ureq::http::Uri;
use ureq::http::uri::Authority;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Proxy};

use crate::address::is_loopback;
use crate::options::FetchOptions;

/// Maximum bytes of an archive.
const MAX_BYTES: u64 = 64 << 20;
/// Maximum redirects that are followed.
const MAX_REDIRECTS: usize = 5;
/// How often a server that is busy is asked.
const MAX_TRIES: u32 = 3;
/// The longest wait that a server can ask for.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// What a server answered.
enum Answer {
    Content(Vec<u8>),
    Redirect(Uri),
    Busy(Option<Duration>),
}

/// Gets what is at an address.
///
/// # Errors
///
/// [`NotFound`](ErrorKind::NotFound) if there is nothing; [`Unreadable`](ErrorKind::Unreadable) if the server fails or sends too
/// much.
pub(crate) fn get(options: &FetchOptions, address: &str) -> Result<Vec<u8>, Error> {
    options.check_online(address)?;
    options.tell(address);
    let failed = |why: &str| failed(address, why);
    let mut uri: Uri = address
        .parse()
        .map_err(|_| failed("it is not an address"))?;
    let first = uri.authority().cloned();
    let (mut redirects, mut tries) = (0, 1);
    loop {
        // A token is for the server that the user named, not for one that it leads to.
        let own_host = uri.host().filter(|_| uri.authority() == first.as_ref());
        let own_host = own_host.map(str::to_ascii_lowercase);
        match ask(options, &uri, own_host.as_deref()).map_err(|why| failed(&why))? {
            Answer::Content(bytes) => return Ok(bytes),
            Answer::Redirect(next) => {
                redirects += 1;
                if redirects > MAX_REDIRECTS {
                    return Err(failed("more than five redirects"));
                }
                if next.scheme() != uri.scheme() {
                    return Err(failed("it redirects to another protocol"));
                }
                let authority = next.authority().map_or("", Authority::as_str);
                if next.scheme_str() == Some("http") && !is_loopback(authority) {
                    return Err(failed("it redirects to another machine without encryption"));
                }
                uri = next;
            }
            Answer::Busy(wait) => {
                let wait = wait.unwrap_or(Duration::from_secs(1 << tries));
                if tries == MAX_TRIES || wait > MAX_WAIT {
                    let seconds = wait.as_secs();
                    return Err(failed(&format!(
                        "the server is busy; try again in {seconds} s"
                    )));
                }
                tries += 1;
                let seconds = wait.as_secs();
                options.tell(&format!("{address}: the server asks to wait {seconds} s"));
                thread::sleep(wait);
            }
        }
    }
}

/// Asks a server once. `own_host` is the host if the user named it: then it gets its token.
fn ask(options: &FetchOptions, uri: &Uri, own_host: Option<&str>) -> Result<Answer, String> {
    let mut request = agent(options, uri)?.get(uri);
    if let Some(token) = own_host.and_then(|host| options.tokens.get(host)) {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let mut response = request.call().map_err(|error| error.to_string())?;
    let status = response.status().as_u16();
    let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
    match status {
        200 => {}
        301 | 302 | 303 | 307 | 308 => {
            let location = header("Location").unwrap_or_default();
            let next = follow(uri, &location);
            return next
                .map(Answer::Redirect)
                .ok_or_else(|| "a redirect without an address".to_owned());
        }
        429 | 503 => {
            return Ok(Answer::Busy(header("Retry-After").and_then(|it| wait(&it))));
        }
        401 | 403 => {
            let server = uri.host().unwrap_or_default();
            let advice = own_host.map_or_else(String::new, |host| {
                format!("; if it exists, {}", options.tokens.advice(host))
            });
            return Err(format!("`{server}` answered {status}{advice}"));
        }
        _ => return Err(format!("the server answered {status}")),
    }
    let length: Option<u64> = header("Content-Length").and_then(|length| length.parse().ok());
    if header("Content-Encoding").is_some_and(|it| it != "identity") {
        return Err("the server compressed it although it was not asked to".to_owned());
    }
    let mut bytes = Vec::new();
    let body = response.body_mut().as_reader().take(MAX_BYTES + 1);
    { body }
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    let size = bytes.len() as u64;
    if size > MAX_BYTES {
        return Err("it has more than 64 MiB".to_owned());
    }
    if length.is_some_and(|length| length != size) {
        return Err("the connection ended early".to_owned());
    }
    Ok(Answer::Content(bytes))
}

/// Returns a client that follows no redirects: each is checked first.
fn agent(options: &FetchOptions, uri: &Uri) -> Result<Agent, String> {
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .build();
    let proxy = match uri.scheme_str() {
        Some("https") => proxy(options)?,
        // Plain HTTP stays on this machine.
        _ => None,
    };
    let config = Agent::config_builder()
        .tls_config(tls)
        .proxy(proxy)
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent(concat!("skillfold/", env!("CARGO_PKG_VERSION")))
        .accept_encoding("identity")
        .timeout_connect(Some(Duration::from_secs(30)))
        .timeout_per_read(Some(Duration::from_secs(60)))
        .timeout_global(Some(options.timeout));
    Ok(config.build().new_agent())
}

/// Returns the proxy in the user's environment.
fn proxy(options: &FetchOptions) -> Result<Option<Proxy>, String> {
    let names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    let Some(address) = names.iter().find_map(|name| options.variable(name)) else {
        return Ok(None);
    };
    let invalid = |error: ureq::Error| format!("HTTPS_PROXY is not usable: {error}");
    let proxy = Proxy::new(address).map_err(invalid)?;
    let mut builder = Proxy::builder(proxy.protocol())
        .host(proxy.host())
        .port(proxy.port());
    if let (Some(user), Some(password)) = (proxy.username(), proxy.password()) {
        builder = builder.username(user).password(password);
    }
    for name in ["NO_PROXY", "no_proxy"] {
        let hosts = options.variable(name).unwrap_or_default().split(',');
        for host in hosts.map(str::trim).filter(|host| !host.is_empty()) {
            // For git and curl, a host covers those below it.
            builder = builder.no_proxy(host);
            if !host.starts_with(['.', '*']) {
                builder = builder.no_proxy(&format!(".{host}"));
            }
        }
    }
    builder.build().map(Some).map_err(invalid)
}

/// Returns how long a server asks to wait: seconds, or until a date.
fn wait(retry_after: &str) -> Option<Duration> {
    if let Ok(seconds) = retry_after.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(retry_after).ok()?;
    Some(date.duration_since(now()).unwrap_or_default())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a server may ask to wait until a time"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Returns the address that a redirect leads to.
fn follow(from: &Uri, location: &str) -> Option<Uri> {
    let scheme = from.scheme_str()?;
    if let Some(rest) = location.strip_prefix("//") {
        return format!("{scheme}://{rest}").parse().ok();
    }
    let next: Uri = if location.contains("://") || location.starts_with('/') {
        location.parse().ok()?
    } else {
        // Beside what was asked for.
        let (folder, _) = from.path().rsplit_once('/')?;
        format!("{folder}/{location}").parse().ok()?
    };
    if next.host().is_some() {
        return next.scheme().is_some().then_some(next);
    }
    let builder = Uri::builder().scheme(scheme);
    builder
        .authority(from.authority()?.clone())
        .path_and_query(next.path_and_query()?.clone())
        .build()
        .ok()
}

fn failed(address: &str, why: &str) -> Error {
    let kind = if why.ends_with("404") || why.ends_with("410") {
        ErrorKind::NotFound
    } else {
        ErrorKind::Unreadable
    };
    let message = format!("Could not fetch `{address}`: {}", visible(why));
    Error::new(kind, message, "Check the address and the network")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::proxy;
    use crate::options::FetchOptions;

    #[test]
    fn host_without_a_proxy_covers_those_below_it() {
        let mut options = FetchOptions::new(PathBuf::new(), PathBuf::new());
        options.environment = vec![
            ("HTTPS_PROXY".into(), "http://proxy:3128".into()),
            ("NO_PROXY".into(), "example.com, .internal,*.test".into()),
        ];
        let proxy = proxy(&options).unwrap().unwrap();
        let hosts = [
            "example.com",
            "files.example.com",
            "notexample.com",
            "a.internal",
            "a.test",
            "github.com",
        ];
        let direct = hosts.into_iter().filter(|host| {
            let address = format!("https://{host}/x.zip");
            proxy.is_no_proxy(&address.parse().unwrap())
        });
        let direct: Vec<&str> = direct.collect();
        assert_eq!(
            direct,
            ["example.com", "files.example.com", "a.internal", "a.test"]
        );
    }
}
