//! The network of a run with rules: a loopback, and a socket that the host listens on. Allocates nothing.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use libc::{c_char, c_int, c_short};
use rustix::cmsg_space;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, bind, listen, recvmsg, sendmsg,
    socket_with,
};

use super::sys::syscall;
use crate::network::PROXY_PORT;

/// Connections that wait to be accepted.
const BACKLOG: c_int = 128;

/// Turns the loopback on, and sends the host a socket that listens on it. The socket stays in this network namespace,
/// whoever has it.
pub(super) fn offer_proxy(host: BorrowedFd<'_>) -> Result<(), Errno> {
    let new = |kind| socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None);
    turn_on(&new(SocketType::DGRAM)?)?;
    let listener = new(SocketType::STREAM)?;
    bind(
        &listener,
        &SocketAddrV4::new(Ipv4Addr::LOCALHOST, PROXY_PORT),
    )?;
    listen(&listener, BACKLOG)?;
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let sockets = [listener.as_fd()];
    if !control.push(SendAncillaryMessage::ScmRights(&sockets)) {
        return Err(Errno::NOBUFS);
    }
    sendmsg(
        host,
        &[IoSlice::new(&[0])],
        &mut control,
        SendFlags::NOSIGNAL,
    )
    .map(drop)
}

/// Turns the loopback on.
fn turn_on(socket: &OwnedFd) -> Result<(), Errno> {
    let flags = c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or(0);
    // SAFETY: all zeros is a valid request.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    for (to, from) in request.ifr_name.iter_mut().zip(c"lo".to_bytes()) {
        *to = c_char::from_ne_bytes([*from]);
    }
    request.ifr_ifru.ifru_flags = flags;
    let (socket, request) = (socket.as_raw_fd(), &raw const request);
    syscall!(libc::SYS_ioctl, socket, libc::SIOCSIFFLAGS, request).map(drop)
}

/// Receives the socket, which was sent before the program started.
pub(super) fn take_proxy(first_process: impl AsFd) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let (mut byte, socket) = ([0], first_process.as_fd());
    recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        flags,
    )?;
    let mut sockets = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut sockets) => sockets.next(),
        _ => None,
    });
    let socket = sockets.next();
    socket.ok_or_else(|| io::Error::other("its first process sent no socket"))
}
