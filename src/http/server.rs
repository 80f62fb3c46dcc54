//! The HTTP server on a bound socket: threads, timeouts, TLS, and the wire between a connection and the parser.

use std::collections::BTreeMap;
use std::future::ready;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, KeepAlive, Request, Response};
use actix_service::{
    IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt, apply_fn_factory, fn_service, map_config,
};
use actix_tls::accept::TlsError;
use actix_tls::accept::rustls_0_23::{Acceptor, TlsStream};
use actix_web::dev::{AppConfig, Server};
use actix_web::rt::net::TcpStream;
use actix_web::{App as ActixApp, Error, web};
use futures_util::TryFutureExt;
use futures_util::future::Either;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};

use super::allocations::reads;
use super::request_log::RequestIds;
use super::wire::Wire;
use super::{App, openapi, routes};
use crate::config;
use crate::ports::Fault;

/// How long the other end of a connection may take to let it go, once we have ended it.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The server on a bound socket, ready to be awaited; with `tls` it speaks nothing else.
pub fn server(
    listener: TcpListener,
    settings: &config::Server,
    tls: Option<ServerConfig>,
    app: web::Data<App>,
) -> Result<Server, Fault> {
    let workers = match settings.workers {
        0 => std::thread::available_parallelism()?.get(),
        some => some,
    };
    let builder = Server::build()
        .workers(workers)
        // Ours is of all workers together, theirs of each.
        .max_concurrent_connections(settings.max_connections.div_ceil(workers))
        .shutdown_timeout(settings.stop_timeout.as_secs())
        .disable_signals();
    let parts = Parts {
        keep_alive: if settings.keep_alive.is_zero() { KeepAlive::Disabled } else { settings.keep_alive.into() },
        request_timeout: settings.request_timeout,
        app,
        ids: web::Data::new(RequestIds::new()?),
        methods: openapi::methods(),
    };
    let builder = match tls {
        None => builder.listen("http", listener, move || {
            let accept = fn_service(async |io: TcpStream| {
                let peer = io.peer_addr().ok();
                Ok((Wire::new(io), peer))
            });
            accept.and_then(parts.http())
        }),
        Some(mut tls) => {
            tls.alpn_protocols = vec![b"http/1.1".to_vec()];
            builder.listen("https", listener, move || {
                let accept = Acceptor::new(tls.clone()).map_err(TlsError::into_service_error);
                let accept = accept.map(|io: TlsStream<TcpStream>| {
                    let peer = io.get_ref().0.peer_addr().ok();
                    (Wire::new(io), peer)
                });
                accept.and_then(parts.http().map_err(TlsError::Service))
            })
        }
    };
    Ok(builder?.run())
}

/// What every worker thread builds its HTTP service from.
#[derive(Clone)]
struct Parts {
    keep_alive: KeepAlive,
    request_timeout: Duration,
    app: web::Data<App>,
    ids: web::Data<RequestIds>,
    /// Of every path.
    methods: BTreeMap<String, String>,
}

impl Parts {
    /// HTTP on an accepted connection, given with the address at its other end.
    fn http<IO: AsyncRead + AsyncWrite + Unpin + 'static>(
        &self,
    ) -> impl ServiceFactory<
        (Wire<IO>, Option<SocketAddr>),
        Config = (),
        Response = (),
        Error = DispatchError,
        InitError = (),
    > + use<IO> {
        let handlers = ActixApp::new()
            .app_data(self.app.clone())
            .app_data(self.ids.clone())
            .configure(|config| routes::configure(config, &self.methods))
            .into_factory()
            .map_err(|error: Error| error.error_response());
        let app = self.app.clone();
        let answers =
            apply_fn_factory(handlers, move |request: Request, handlers| match reads::one(request.head(), &app) {
                Some(response) => Either::Left(ready(Ok(Response::from(response)))),
                None => Either::Right(handlers.call(request).map_ok(Response::from)),
            });
        let stopping = self.app.stopping.clone();
        HttpService::build()
            .keep_alive(self.keep_alive)
            .client_request_timeout(self.request_timeout)
            .client_disconnect_timeout(DISCONNECT_TIMEOUT)
            // Who closes half of a connection is taken to have gone away: a claim call must not outlive its client.
            .h1_allow_half_closed(false)
            .graceful_shutdown_signal(move || {
                let mut stopping = stopping.clone();
                // That nobody is left to say so means it too.
                async move { drop(stopping.wait_for(|stopping| *stopping).await) }
            })
            .h1(map_config(answers, |()| AppConfig::default()))
    }
}
