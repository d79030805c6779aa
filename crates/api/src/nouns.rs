//! The routes with what they ask and answer. Both are read from the signatures of the handlers, and the router is made of the
//! same list, so that the description cannot say anything else than what is served.

use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};
use serde_json::Value;

use super::description::{Method, Operation, Schemas, document};
use super::shared::Shared;
use super::signature::Signature;

/// Routes in the making.
#[derive(Default)]
pub struct Nouns {
    router: Router<Arc<Shared>>,
    operations: Vec<Operation>,
    schemas: Schemas,
}

impl Nouns {
    pub fn get<S, H, M>(self, path: &str, says: &'static str, handler: H) -> Nouns
    where
        H: Handler<M, Arc<Shared>> + Signature<S>,
        M: 'static,
    {
        self.route(Method::Get, path, says, handler)
    }

    pub fn post<S, H, M>(self, path: &str, says: &'static str, handler: H) -> Nouns
    where
        H: Handler<M, Arc<Shared>> + Signature<S>,
        M: 'static,
    {
        self.route(Method::Post, path, says, handler)
    }

    pub fn put<S, H, M>(self, path: &str, says: &'static str, handler: H) -> Nouns
    where
        H: Handler<M, Arc<Shared>> + Signature<S>,
        M: 'static,
    {
        self.route(Method::Put, path, says, handler)
    }

    pub fn delete<S, H, M>(self, path: &str, says: &'static str, handler: H) -> Nouns
    where
        H: Handler<M, Arc<Shared>> + Signature<S>,
        M: 'static,
    {
        self.route(Method::Delete, path, says, handler)
    }

    /// A question about one page, which is named in the query or in the path: `/why?url=U` and `/pages/U/why`.
    pub fn of_page<S, H, M>(self, noun: &str, says: &'static str, handler: H) -> Nouns
    where
        H: Handler<M, Arc<Shared>> + Signature<S> + Clone,
        M: 'static,
    {
        let below = if noun == "page" { String::new() } else { format!("/{noun}") };
        self.get(&format!("/api/v1/{noun}"), says, handler.clone()).get(
            &format!("/api/v1/pages/{{url}}{below}"),
            says,
            handler,
        )
    }

    /// A GET whose path ends with a URL as it is. `path` is what is described, `route` what is served: `/timegate/{*url}`.
    pub fn before_url<S, H, M>(mut self, (route, path): (&str, &str), says: &'static str, handler: H) -> Nouns
    where
        H: Handler<M, Arc<Shared>> + Signature<S>,
        M: 'static,
    {
        self.describe::<S, H, M>(Method::Get, path, says);
        self.router = self.router.route(route, on(MethodFilter::GET, handler));
        self
    }

    /// A route that other standards describe, or that is for people.
    pub fn others(mut self, path: &str, methods: MethodRouter<Arc<Shared>>) -> Nouns {
        self.router = self.router.route(path, methods);
        self
    }

    fn route<S, H, M>(mut self, method: Method, path: &str, says: &'static str, handler: H) -> Nouns
    where
        H: Handler<M, Arc<Shared>> + Signature<S>,
        M: 'static,
    {
        self.describe::<S, H, M>(method, path, says);
        let filter = match method {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
            Method::Put => MethodFilter::PUT,
            Method::Delete => MethodFilter::DELETE,
        };
        self.router = self.router.route(path, on(filter, handler));
        self
    }

    fn describe<S, H, M>(&mut self, method: Method, path: &str, says: &'static str)
    where
        H: Handler<M, Arc<Shared>> + Signature<S>,
        M: 'static,
    {
        let asked = H::asked(&mut self.schemas);
        let answered = H::answered(&mut self.schemas);
        let path = path.to_owned();
        self.operations.push(Operation { method, path, says, asked, answered, leads_on: H::LEADS_ON });
    }

    pub fn router(self) -> Router<Arc<Shared>> {
        self.router
    }

    /// What is served, for machines.
    pub fn document(self) -> Value {
        document(&self.operations, self.schemas)
    }
}
