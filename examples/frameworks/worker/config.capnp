using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "shop", worker = .shop)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "shop")],
);

const shop :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",
  bindings = [(name = "NOTIFICATION_SECRET", fromEnvironment = "NOTIFICATION_SECRET")],
);
