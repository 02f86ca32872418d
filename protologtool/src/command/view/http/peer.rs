//! The user at the other end of a connection from this machine.
//!
//! TCP does not say who connects, but the kernel knows whose each socket is, and anybody may ask it
//! about one of both addresses (`sock_diag(7)`). Where it can't be asked, nobody is known.

use std::net::SocketAddr;

/// Asks the kernel whose connections are.
#[derive(Debug)]
pub(super) struct Users {
    #[cfg(target_os = "linux")]
    kernel: Option<rustix::fd::OwnedFd>,
}

#[cfg(target_os = "linux")]
impl Users {
    pub(super) fn new() -> Self {
        use rustix::net::{AddressFamily, SocketFlags, SocketType, netlink, socket_with};
        let (kind, flags) = (SocketType::RAW, SocketFlags::CLOEXEC);
        let kernel = socket_with(AddressFamily::NETLINK, kind, flags, Some(netlink::SOCK_DIAG));
        Self { kernel: kernel.ok() }
    }

    /// The user who has the other end of the connection, which is at `peer`; none if that end is
    /// closed, or the kernel does not say.
    pub(super) fn of(&self, peer: SocketAddr, own: SocketAddr) -> Option<u32> {
        use rustix::net::{RecvFlags, SendFlags, recv, send};
        let kernel = self.kernel.as_ref()?;
        let request = request(peer, own)?;
        send(kernel, &request, SendFlags::DONTWAIT).ok()?;
        let mut reply = [0; 512];
        // The kernel answers while it is asked.
        let (length, _) = recv(kernel, &mut reply[..], RecvFlags::DONTWAIT).ok()?;
        user(reply.get(..length)?, &request)
    }
}

#[cfg(not(target_os = "linux"))]
impl Users {
    pub(super) fn new() -> Self {
        Self {}
    }

    pub(super) fn of(&self, _: SocketAddr, _: SocketAddr) -> Option<u32> {
        None
    }
}

/// `SOCK_DIAG_BY_FAMILY`, the type of request and answer.
#[cfg(target_os = "linux")]
const BY_FAMILY: u16 = 20;
/// The size of a message's header.
#[cfg(target_os = "linux")]
const HEADER: usize = 16;
/// Ports and addresses, in a request after its header and 8 bytes, in an answer after its header
/// and 4.
#[cfg(target_os = "linux")]
const ID: usize = 48;

/// A `struct nlmsghdr` and a `struct inet_diag_req_v2`: which socket is at `peer`, connected to
/// `own`?
#[cfg(target_os = "linux")]
fn request(peer: SocketAddr, own: SocketAddr) -> Option<Vec<u8>> {
    const REQUEST: u16 = 1;
    let (SocketAddr::V4(peer), SocketAddr::V4(own)) = (peer, own) else { return None };
    let size = HEADER + 8 + ID;
    let mut bytes = u32::try_from(size).ok()?.to_ne_bytes().to_vec();
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    bytes.resize(HEADER, 0);
    // AF_INET, IPPROTO_TCP, and all states.
    bytes.extend([2, 6, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    bytes.extend(peer.port().to_be_bytes());
    bytes.extend(own.port().to_be_bytes());
    for address in [peer.ip(), own.ip()] {
        bytes.extend(address.octets());
        bytes.extend([0; 12]);
    }
    // Any interface, and no cookie.
    bytes.extend([0; 4]);
    bytes.extend([0xff; 8]);
    Some(bytes)
}

/// The user in an answer, a `struct inet_diag_msg`, if it is one to the request and about an end
/// that is open.
#[cfg(target_os = "linux")]
fn user(answer: &[u8], request: &[u8]) -> Option<u32> {
    const ESTABLISHED: u8 = 1;
    let number = |at: usize| Some(u32::from_ne_bytes(answer.get(at..at + 4)?.try_into().ok()?));
    let is_answer = answer.get(4..6)? == BY_FAMILY.to_ne_bytes();
    // The ports.
    let is_it = answer.get(HEADER + 4..HEADER + 8)? == request.get(HEADER + 8..HEADER + 12)?;
    let is_open = *answer.get(HEADER + 1)? == ESTABLISHED;
    let after = HEADER + 4 + ID + 12;
    let (user, inode) = (number(after)?, number(after + 4)?);
    // A socket that its process has closed has no file, and would be root's.
    (is_answer && is_it && is_open && inode != 0).then_some(user)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_kernel_knows_whose_a_connection_is() {
        let users = Users::new();
        for host in ["127.0.0.1", "127.83.4.9"] {
            let listener = TcpListener::bind((host, 0)).unwrap();
            let own = listener.local_addr().unwrap();
            let stream = TcpStream::connect(own).unwrap();
            let (_accepted, peer) = listener.accept().unwrap();
            let user = rustix::process::geteuid().as_raw();
            assert_eq!(users.of(peer, own), Some(user));
            assert_eq!(users.of(own, own), None, "nobody is there");
            drop(stream);
            assert_eq!(users.of(peer, own), None, "closed");
        }
    }
}
