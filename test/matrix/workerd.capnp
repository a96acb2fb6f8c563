using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (services = [(name = "smoke", worker = .smoke)]);

const smoke :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.bundle.js")],
  compatibilityDate = "2026-01-01",
);
