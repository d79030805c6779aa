//! The socket in the data folder. Only the owner of the folder reaches it, so it needs no limits.

use std::fs::{self, File, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use axum::Router;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::error::{Error, Result};

pub const SOCKET_NAME: &str = "vernal.sock";

/// Only the owner may speak to the crawl.
const SOCKET_MODE: u32 = 0o600;
/// Longer paths do not fit into the address of a socket on every system.
const SOCKET_PATH_BYTES_MAX: usize = 100;

/// A name of the socket that fits, and the open folder that a short name leads through.
struct Reachable {
    path: PathBuf,
    _dir: Option<File>,
}

fn reachable(dir: &Path, name: &str) -> std::io::Result<Reachable> {
    let path = dir.join(name);
    if path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        return Ok(Reachable { path, _dir: None });
    }
    let dir = File::open(dir)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}/{name}", dir.as_raw_fd()));
    Ok(Reachable { path, _dir: Some(dir) })
}

/// Speaks to the process that holds the folder; an error means that nobody listens there.
pub async fn connect(dir: &Path) -> std::io::Result<UnixStream> {
    let socket = reachable(dir, SOCKET_NAME)?;
    UnixStream::connect(&socket.path).await
}

/// Makes the socket. The caller holds the folder's lock, so that a socket found there is stale.
pub fn bind_socket(dir: &Path) -> Result<UnixListener> {
    let wrong =
        |error: std::io::Error| Error::Failed(format!("listen on {}: {error}", dir.join(SOCKET_NAME).display()));
    // Made under another name and renamed, so that nobody can reach it before it is ours alone.
    let young = format!("{SOCKET_NAME}.{}", std::process::id());
    let socket = reachable(dir, &young).map_err(wrong)?;
    let _ = fs::remove_file(&socket.path);
    let listener = UnixListener::bind(&socket.path).map_err(wrong)?;
    fs::set_permissions(&socket.path, Permissions::from_mode(SOCKET_MODE)).map_err(wrong)?;
    fs::rename(dir.join(&young), dir.join(SOCKET_NAME)).map_err(wrong)?;
    Ok(listener)
}

pub fn remove_socket(dir: &Path) {
    // A socket left behind is harmless: the next process that wins the lock replaces it.
    let _ = fs::remove_file(dir.join(SOCKET_NAME));
}

/// Serves until `stop` becomes true.
pub fn serve_socket(listener: UnixListener, router: Router, stop: watch::Receiver<bool>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let _ = axum::serve(listener, router).with_graceful_shutdown(stopped(stop)).await;
    })
}

async fn stopped(mut stop: watch::Receiver<bool>) {
    // An error means that whoever could stop us is gone, which is a stop as well.
    let _ = stop.wait_for(|&stop| stop).await;
}
