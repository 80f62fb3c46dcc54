//! TLS: https with a certificate and its key, nothing else on that port, and a clear word when the two do not fit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::desk::FARM;
use crate::suite::server::{Home, Server};

/// A certificate for localhost that signs itself, and its key.
fn certificate(folder: &Path, name: &str) -> (PathBuf, PathBuf) {
    let (certificate, key) = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
    let output = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .expect("openssl is there: `tests/run` installs it");
    assert!(output.status.success(), "{output:?}");
    (certificate, key)
}

/// What curl, trusting this certificate, gets from a server that speaks TLS: the status and the body.
fn curl(server: &Server, authority: &Path, arguments: &[&str], path: &str) -> (String, String) {
    let url = format!("https://localhost:{}{path}", server.address().port());
    let output = Command::new("curl")
        .args(["--silent", "--show-error", "--max-time", "20", "--ipv4", "--write-out", "\n%{http_code}", "--cacert"])
        .arg(authority)
        .args(arguments)
        .arg(url)
        .output()
        .expect("curl is there: `tests/run` installs it");
    let text = String::from_utf8(output.stdout).unwrap();
    let (body, status) = text.rsplit_once('\n').unwrap();
    (status.to_owned(), if status == "000" { String::from_utf8(output.stderr).unwrap() } else { body.to_owned() })
}

#[test]
fn https_is_spoken_and_nothing_else() {
    let home = Home::new(FARM);
    let folder = home.farm_file().parent().unwrap().to_owned();
    let (certificate, key) = certificate(&folder, "tls");
    let server = home
        .serve()
        .env("JACUZZI__SERVER__TLS_CERTIFICATE", &certificate)
        .env("JACUZZI__SERVER__TLS_KEY", &key)
        .start();
    let token = format!("Authorization: Bearer {}", home.operator_token());
    let body = json!({"set": {"Mac a": ["mac1"]}}).to_string();
    let write = ["--request", "PATCH", "--header", &token, "--data-binary", &body];
    let (status, delta) = curl(&server, &certificate, &write, "/v1/allocations");
    assert_eq!(status, "200", "{delta}");
    for version in ["--tlsv1.2", "--tlsv1.3"] {
        let (status, machines) = curl(&server, &certificate, &[version], "/v1/builders/Mac%20a");
        assert_eq!((status.as_str(), machines.as_str()), ("200", r#"{"machines":["mac1"]}"#), "{version}");
    }
    let origin = format!("Origin: https://localhost:{}", server.address().port());
    assert_eq!(curl(&server, &certificate, &["--header", &origin], "/livez").0, "200");

    // Who does not trust the certificate, and who does not speak TLS, get nothing.
    let (other, _) = super::tls::certificate(&folder, "other");
    let (status, error) = curl(&server, &other, &[], "/v1/builders");
    assert!(status == "000" && error.contains("certificate"), "{status} {error}");
    let plain =
        Command::new("curl").args(["--silent", "--max-time", "20", &format!("{}/v1/builders", server.url())]).output();
    assert!(!plain.unwrap().status.success());
    assert_eq!(curl(&server, &certificate, &[], "/v1/builders").0, "200", "it goes on");
}

#[test]
fn what_does_not_fit_is_said_before_anything_is_done() {
    let home = Home::new(FARM);
    let folder = home.farm_file().parent().unwrap().to_owned();
    let (good, key) = certificate(&folder, "a");
    let (_, other_key) = certificate(&folder, "b");
    let (nothing, missing) = (folder.join("nothing.pem"), folder.join("missing.pem"));
    fs::write(&nothing, "no certificate here\n").unwrap();
    for (certificate, key, said) in [
        (&good, &other_key, "does not fit the certificate"),
        (&good, &good, "cannot read the key"),
        (&good, &missing, "missing.pem"),
        (&missing, &key, "missing.pem"),
        (&nothing, &key, "there is no certificate in"),
        (&key, &key, "there is no certificate in"),
        (&good, &PathBuf::new(), "tls_certificate needs its key"),
        (&PathBuf::new(), &key, "a key needs its tls_certificate"),
    ] {
        let start =
            home.serve().env("JACUZZI__SERVER__TLS_CERTIFICATE", certificate).env("JACUZZI__SERVER__TLS_KEY", key);
        let failed = start.try_start().err().unwrap();
        assert!(failed.status.is_some_and(|status| status.code() == Some(1)), "{said}: {failed:?}");
        assert!(failed.stderr.contains(said), "{said}: {failed:?}");
        assert!(failed.stdout.is_empty() && !home.data_dir().exists(), "{failed:?}");
    }
}
