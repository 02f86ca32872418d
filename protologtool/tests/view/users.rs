//! Two users of one machine: the log of one, and all that the other can see and do meanwhile.

use crate::served::{Client, Served, address, code, wait_for};
use crate::{log_a_thousand, record};
use protolog_testkit::{Users, role, temp_dir, with_users};
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// The directory that all users share, and the names of those in it: the victim's own, and one of
/// programs for everybody.
const SHARED: &str = "/tmp";
const HOME: &str = "victim";
const PROGRAMS: &str = "bin";

/// A directory of a user's own.
fn own_directory(path: &Path, user: u32) -> PathBuf {
    let path = path.to_owned();
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
    chown(&path, Some(user), Some(user)).unwrap();
    path
}

/// Starts `view` as the victim, with an `xdg-open` that notes what it was given in the victim's
/// directory.
fn start_view(users: &Users, program: &Path, home: &Path) -> Served {
    let trace = home.join("app.pftrace");
    let dir = temp_dir();
    fs::copy(record(&dir, log_a_thousand), &trace).unwrap();
    fs::set_permissions(&trace, Permissions::from_mode(0o600)).unwrap();
    chown(&trace, Some(users.victim), Some(users.victim)).unwrap();
    let programs = Path::new(SHARED).join(PROGRAMS);
    fs::create_dir(&programs).unwrap();
    let given = home.join("given").display().to_string();
    let script =
        format!("#!/bin/sh\necho \"$1\" > {given}.part\nmv {given}.part {given}\nsleep 20\n");
    let open = programs.join("xdg-open");
    fs::write(&open, script).unwrap();
    for path in [&open, &programs] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    let runtime = format!("/run/user/{}", users.victim);
    let runtime = own_directory(Path::new(&runtime), users.victim);
    let mut view = users.command(users.victim, users.program(program));
    view.arg("view").arg(trace).env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
    view.env("XDG_RUNTIME_DIR", runtime).stdin(Stdio::null()).stderr(Stdio::null());
    Served::spawn(&mut view)
}

#[test]
fn another_user_gets_nothing_and_stops_nothing() {
    let test = "users::another_user_gets_nothing_and_stops_nothing";
    let program = Path::new(env!("CARGO_BIN_EXE_protologtool"));
    with_users(test, &[program], |users| {
        let home = own_directory(&Path::new(SHARED).join(HOME), users.victim);
        let mut served = start_view(users, program, &home);
        let file = wait_for("xdg-open", || fs::read_to_string(home.join("given")).ok());
        let text = fs::read_to_string(file.trim_end()).unwrap();
        let url = text.split("url=").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let intruder = users.role(users.intruder, "users::intruder", &format!("{}", users.victim));
        // All that the intruder found, and no code among it.
        let found = intruder.finish().join("\n");
        assert!(found.contains(&file.trim_end().to_owned()), "{found}");
        assert!(found.contains(&served.address().to_string()), "{found}");
        assert!(!found.contains(code(&url)) && !found.contains("bytes"), "{found}");
        // The browser comes at last, and is let in all the same.
        let client = Client::open(&url).map_err(|it| it.status).unwrap();
        assert_eq!(client.ask("GET", "/data").status, 200);
        assert!(served.is_running());
        let place = address(&url);
        drop(served);
        // The port is anybody's then.
        let thief = format!("{} {place}", users.victim);
        let found = users.role(users.intruder, "users::intruder", &thief).finish().join("\n");
        assert!(found.contains("took the port"), "{found}");
    });
}

/// Each kind of flood: connections that ask at once, that ask for nothing, and that are closed at
/// once.
const FLOODS: [&str; 3] = ["asking", "silent", "closing"];

#[test]
fn another_users_flood_keeps_no_browser_out() {
    let test = "users::another_users_flood_keeps_no_browser_out";
    let program = Path::new(env!("CARGO_BIN_EXE_protologtool"));
    with_users(test, &[program], |users| {
        let home = own_directory(&Path::new(SHARED).join(HOME), users.victim);
        let served = start_view(users, program, &home);
        let file = wait_for("xdg-open", || fs::read_to_string(home.join("given")).ok());
        let text = fs::read_to_string(file.trim_end()).unwrap();
        let url = text.split("url=").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let floods = FLOODS.map(|kind| {
            let given = format!("{kind} {}", served.address());
            users.role(users.intruder, "users::role_that_floods", &given)
        });
        for _ in 0..3 {
            let browser = users.role(users.victim, "users::role_of_a_new_browser", &url);
            browser.finish();
        }
        drop(floods);
    });
}

/// Connects again and again, as fast as it goes.
#[test]
fn role_that_floods() {
    let Some(given) = role() else { return };
    let (kind, address) = given.split_once(' ').unwrap();
    let address: SocketAddr = address.parse().unwrap();
    println!("\nready");
    let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let mut open = std::collections::VecDeque::new();
    loop {
        let Ok(mut stream) = TcpStream::connect_timeout(&address, Duration::from_secs(1)) else {
            continue;
        };
        if kind == "asking" {
            let _ = stream.write_all(request.as_bytes());
        }
        if kind != "closing" {
            open.push_back(stream);
        }
        if open.len() > 500 {
            open.pop_front();
        }
    }
}

/// A browser that has not been there before, and gets the page.
#[test]
fn role_of_a_new_browser() {
    let Some(url) = role() else { return };
    println!("\nready");
    let address = address(&url);
    for round in 0..20 {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // It may take a moment to ask; old connections of others are in its way by then.
        std::thread::sleep(Duration::from_millis(round % 4 * 30));
        write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        assert!(page.starts_with("HTTP/1.1 200 OK") && page.ends_with("</html>\n"), "{page:.100}");
    }
}

/// The intruder, given the id of the victim; and an address to take.
#[test]
fn intruder() {
    let Some(given) = role() else { return };
    println!("\nready");
    let (victim, place) = given.split_once(' ').unwrap_or((&given, ""));
    if !place.is_empty() {
        let place: SocketAddr = place.parse().unwrap();
        let _listener = wait_for("the port", || TcpListener::bind(place).ok());
        return println!("took the port");
    }
    let arguments = arguments_of_all();
    println!("{arguments}");
    let redirect = arguments.split('\n').find(|it| it.ends_with("/open.html")).expect("its name");
    let redirect = Path::new(redirect);
    assert!(fs::read(redirect).is_err() && fs::read_dir(redirect.parent().unwrap()).is_err());
    assert!(fs::read(Path::new(SHARED).join(HOME).join("app.pftrace")).is_err());
    let address = listens(victim);
    println!("{address}");
    attack(address);
}

/// The arguments of all processes, a line each.
fn arguments_of_all() -> String {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let files = processes.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    let all = files.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', "\n"));
    all.collect::<Vec<_>>().join("\n")
}

/// The address at which a user listens.
fn listens(user: &str) -> SocketAddr {
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let is_it = |fields: &Vec<&str>| fields[3] == "0A" && fields[7] == user;
    let line = table.lines().skip(1).map(|line| line.split_whitespace().collect()).find(is_it);
    let (ip, port) = line.expect("a line of the user")[1].split_once(':').unwrap();
    let ip = Ipv4Addr::from(u32::from_str_radix(ip, 16).unwrap().to_ne_bytes());
    SocketAddr::from((ip, u16::from_str_radix(port, 16).unwrap()))
}

/// Asks for all that is there, without a proof, and leaves many connections open.
fn attack(address: SocketAddr) {
    let mut open = Vec::new();
    for round in 0..100 {
        for request in [
            format!("GET /data HTTP/1.1\r\nHost: {address}\r\n\r\n"),
            format!(
                "POST /session HTTP/1.1\r\nHost: {address}\r\nAuthorization: Protolog code.{:032}.{:064}\r\n\r\n",
                0, 0
            ),
            "POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n".to_owned(),
            format!("GET / HTTP/1.1\r\nHost: {address}\r\nContent-Length: 9\r\n\r\n"),
            "GET /".to_owned(),
        ] {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            // One too many is closed at once.
            let sent = stream.write_all(request.as_bytes());
            assert!(sent.is_ok() || round > 0, "{sent:?}");
            if round == 0 && request.ends_with("\r\n\r\n") {
                let mut reply = String::new();
                let _ = stream.read_to_string(&mut reply);
                println!("{reply}");
            }
            open.push(stream);
        }
    }
}
