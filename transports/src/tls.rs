//! The certificate of all servers, and what rustls makes of it. The certificate is of Ed25519, whose signatures all
//! have one length. So the packets of a handshake have the same lengths in every run.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::sync::Arc;

/// The certificate and its key, as PEM.
pub(crate) const CERTIFICATE: &[u8] = include_bytes!("../certificate/cert.pem");
pub(crate) const KEY: &[u8] = include_bytes!("../certificate/key.pem");
/// The name in the certificate.
pub(crate) const NAME: &str = "goodqueue.test";
/// The application protocol of all connections.
pub(crate) const ALPN: &[u8] = b"goodqueue";

fn said(error: impl std::fmt::Display) -> String {
    format!("the certificate: {error}")
}

fn certificate() -> Result<CertificateDer<'static>, String> {
    CertificateDer::from_pem_slice(CERTIFICATE).map_err(said)
}

/// Returns the configuration of servers.
pub(crate) fn server() -> Result<ServerConfig, String> {
    let key = PrivateKeyDer::from_pem_slice(KEY).map_err(said)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13]).map_err(said)?;
    let made = builder.with_no_client_auth().with_single_cert(vec![certificate()?], key);
    let mut config = made.map_err(said)?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(config)
}

/// Returns the configuration of clients, which trust the certificate.
pub(crate) fn client() -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate()?).map_err(said)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13]).map_err(said)?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(config)
}
