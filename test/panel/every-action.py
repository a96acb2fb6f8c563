"""Drives every action of the mock's panel with Python alone. Arguments: the server's URL. Prints the actions' names."""
import json
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

base = sys.argv[1]
used, received = set(), []
actions = json.load(urllib.request.urlopen(base + "/_mock/openapi.json"))["components"]["schemas"]


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        received.append((json.loads(body), self.headers["x-signature"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def send(path, data, headers):
    request = urllib.request.Request(base + path, data, headers)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def run(action, data, headers, fields):
    used.add(action)
    assert {name.split(".")[0] for name in fields} <= set(actions[action]["properties"]), action
    status, outcome = send("/_mock", data.encode(), headers)
    assert status == 200, outcome
    return outcome["message"]


def form(action, **fields):
    """Runs an action as curl does, with form fields."""
    data = urllib.parse.urlencode({"action": action, **fields})
    return run(action, data, {"accept": "application/json"}, fields)


def as_json(action, **fields):
    """Runs an action with a JSON body."""
    return run(action, json.dumps({"action": action, **fields}), {"content-type": "application/json"}, fields)


def state(query=""):
    return json.load(urllib.request.urlopen(base + "/_mock/state?" + query))


def call(path, body, token, **headers):
    all_headers = {"content-type": "application/json", "authorization": "Bearer " + token, **headers}
    return send(path, json.dumps(body).encode(), all_headers)


def health():
    try:
        return urllib.request.urlopen(base + "/health").status
    except urllib.error.HTTPError as error:
        return error.code


def login():
    body = {"grant_type": "password", "client_id": "mock-client", "client_secret": "mock-client-secret"}
    return call("/oauth/token", {**body, "username": "mock-user", "password": "mock-password"}, "")[1]["access_token"]


def subscribe(name):
    order = {"clientID": "mock-client", "requestID": name, "start": "2027-01-02", "end": "2027-12-31", "cycle": "WEEKLY"}
    order.update(amount="25.00", userReturnURL="https://shop.example/return")
    status, body = call("/api/v1.0/subscribe", order, login())
    assert status == 200, body
    return body["invoiceID"]


def charge(msisdn, key):
    body = {"msisdn": msisdn, "amount": 250, "currency": "BDT", "redirect_uri": "https://shop.example/paid"}
    return call("/api/v1/mfs/charges", body, "mock-api-key", **{"idempotency-key": key})


def statuses():
    return [payment["status"] for payment in reversed(state()["payments"]["items"])]


# A receiver, a subscription, and its payments: paid, failed, reversed.
server = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
form("set-clock", time="2027-01-01T06:00:00Z")
form("connect", url="http://127.0.0.1:%d/hook" % server.server_port, retries="3", **{"signing.secret": "shared"})
invoice = subscribe("order-1")
form("authorize", invoiceId=invoice, payments="succeed, fail")
form("advance", months="1")
assert state()["now"] == "2027-02-01T06:00:00.000Z"
assert statuses() == ["SUCCEEDED_PAYMENT", "FAILED_PAYMENT"] + ["SUCCEEDED_PAYMENT"] * 3, statuses()
form("reverse", paymentId=1000001)
assert state("payments.is=reversed")["payments"]["total"] == 1
form("set-payments", id=invoice, payments="fail")
form("advance", days=7)
assert statuses()[-1] == "FAILED_PAYMENT"
assert len(received) == 7 and all(signature for _, signature in received)

# Notifications again and by hand.
first = received[0][0]
form("resend", notificationId=first["notificationId"])
assert received[-1][0] == first
as_json("send", type="SUBSCRIPTION", status="PAUSED", subscriptionId="unknown")
assert received[-1][0]["status"] == "PAUSED" and len(received) == 9
attempt = state("notifications.q=paused")["notifications"]["items"][0]["attempts"][0]
assert attempt["status"] == 200 and json.loads(attempt["body"])["status"] == "PAUSED"

# Snapshots.
form("save-snapshot", name="five paid")
form("cancel", id=invoice)
assert state()["subscriptions"]["items"][0]["phase"] == "CANCELLED"
form("flush")
form("restore-snapshot", name="five paid")
assert state()["subscriptions"]["items"][0]["phase"] == "ACTIVE"
form("remove-snapshot", name="five paid")
form("decline", invoiceId=subscribe("order-2"))
as_json("add", subscriptions=[{"request": {"start": "2027-01-01", "end": "2027-12-31", "cycle": "DAILY", "amount": "5"}}])
assert state()["subscriptions"]["total"] == 3

# Charges, and a fault for one number only. A form turns the plus sign of a number into a space.
form("fault", operation="gateway.charge", kind="status", status=503, times="always", **{"when.msisdn": " 99900000002"})
assert charge("+99900000002", "a")[0] == 503 and charge("+99900000001", "b")[0] == 202
form("remove-fault", number=state()["faults"][0]["number"])
assert charge("+99900000002", "a")[0] == 202
form("behavior", msisdn="+99900000001", behavior="wallet_blocked")
for one in state()["charges"]["items"]:
    form("confirm", confirmationId=one["confirmation_id"])
assert state("charges.is=failed")["charges"]["total"] == 2

# What a shop does, and the result of one charge only.
form("subscribe", requestID="order-3", amount="99.50")
assert state()["subscriptions"]["items"][0]["amount"] == "99.50"
form("charge", msisdn="+99900000003", amount=100)
form("end-charge", confirmationId=state()["charges"]["items"][0]["confirmation_id"], behavior="succeeds")
form("renew", id=state()["charges"]["items"][0]["id"])
assert [one["status"] for one in state()["charges"]["items"][:2]] == ["failed", "succeeded"]
before = state()
form("next-event")
assert state()["now"] == before["nextEventAt"]
assert "accepted" in form("explain", operation="gateway.charge")

# Outage, other faults, tokens.
form("start-outage")
form("start-outage", area="subscriptions")
assert health() == 503 and state()["outages"] == ["gateway", "subscriptions"]
form("end-outage", area="gateway")
assert health() == 200 and state()["outages"] == ["subscriptions"]
form("end-outage")
as_json("fault", operation="gateway.health", kind="html", sequence=["succeed", "fail"])
assert [health(), health(), health()] == [200, 502, 200]
form("fault", operation="*", kind="reset")
form("clear-faults")
token = login()
form("expire-tokens")
assert call("/api/v1.0/subscribe/%s/status" % invoice, {}, token)[0] == 401
form("revoke-tokens")

# The logs, the receiver, and everything.
form("clear-requests")
form("clear-notifications")
form("disconnect", number=state()["receivers"][0]["number"])
assert (state()["requests"]["total"], state()["notifications"]["total"], state()["receivers"]) == (0, 0, [])
form("reset")
assert state()["subscriptions"]["total"] == 0
print(json.dumps(sorted(used)))
