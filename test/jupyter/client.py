"""Drives a kernel through jupyter_client for the tests: a JSON command per line in, an answer per line out."""
import json
import os
import queue
import sys
import time

import zmq
from jupyter_client import BlockingKernelClient, KernelManager

# A kernel inherits the standard output: what it prints there itself must not cut an answer in two.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

manager = None
clients = []
kept = {}


def describe(message):
    return {
        "type": message["header"]["msg_type"],
        "content": message["content"],
        "parent": message["parent_header"].get("msg_id"),
    }


def new_client():
    if not clients:
        client = manager.client()
    else:  # Clients of a manager share one identity, as no two frontends do.
        client = BlockingKernelClient()
        client.load_connection_info(manager.get_connection_info())
    client.start_channels()
    client.wait_for_ready(timeout=60)
    clients.append(client)
    return len(clients) - 1


def start(kernel, cwd, env=None, message_interrupts=False):
    global manager
    manager = KernelManager(kernel_name=kernel)
    # Jupyter kills after 5 s; what is tested is that the kernel ends by itself, on any machine.
    manager.shutdown_wait_time = 60
    if message_interrupts:
        manager.kernel_spec.interrupt_mode = "message"
    manager.start_kernel(cwd=cwd, env={**os.environ, **(env or {})})
    return new_client()


def pid():
    return manager.provisioner.process.pid


def collect(message, client=0, timeout=60):
    """The reply to a request and what was published for it, in order, up to its idle status."""
    client = clients[client]
    published, reply = kept.pop(message, []), None
    end = time.monotonic() + timeout
    idle = any(one["content"].get("execution_state") == "idle" for one in published)
    while not idle:
        got = describe(client.get_iopub_msg(timeout=max(0.01, end - time.monotonic())))
        if got["parent"] != message:
            kept.setdefault(got["parent"], []).append(got)
            continue
        published.append(got)
        idle = got["content"].get("execution_state") == "idle"
    while reply is None:
        got = describe(client.get_shell_msg(timeout=max(0.01, end - time.monotonic())))
        if got["parent"] == message:
            reply = got
    return {"reply": reply["content"], "reply_type": reply["type"], "iopub": published}


def wait_for_text(message, text, timeout=60):
    """Waits until a cell has printed `text`; what is published for it is kept for `collect`."""
    end = time.monotonic() + timeout
    while True:
        mine = kept.setdefault(message, [])
        if any(text in one["content"].get("text", "") for one in mine if one["type"] == "stream"):
            return
        got = describe(clients[0].get_iopub_msg(timeout=max(0.01, end - time.monotonic())))
        kept.setdefault(got["parent"], []).append(got)


def wait_for_busy(message, timeout=60):
    """Waits until the kernel has begun with a request."""
    end = time.monotonic() + timeout
    while not kept.get(message):
        got = describe(clients[0].get_iopub_msg(timeout=max(0.01, end - time.monotonic())))
        kept.setdefault(got["parent"], []).append(got)


def send(code, client=0, metadata=None, **options):
    if metadata is None:
        return clients[client].execute(code, **options)
    content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
    message = clients[client].session.msg("execute_request", content, metadata=metadata)
    clients[client].shell_channel.send(message)
    return message["header"]["msg_id"]


def execute(code, client=0, timeout=60, **options):
    return collect(send(code, client, **options), client, timeout)


def kept_displays():
    """What was displayed for cells after they had ended."""
    return [one for all in kept.values() for one in all if one["type"] == "display_data"]


def execute_printed(code, timeout=120):
    """How much a cell printed to stdout, all of stderr, and in how many messages."""
    streams = [one["content"] for one in execute(code, timeout=timeout)["iopub"] if one["type"] == "stream"]
    text = {name: "".join(one["text"] for one in streams if one["name"] == name) for name in ("stdout", "stderr")}
    return {"stdout": len(text["stdout"]), "stderr": text["stderr"], "messages": len(streams)}


def request(type, content, channel="shell", timeout=30):
    client = clients[0]
    message = client.session.msg(type, content)
    shell = channel == "shell"
    (client.shell_channel if shell else client.control_channel).send(message)
    get = client.get_shell_msg if shell else client.get_control_msg
    end = time.monotonic() + timeout
    while True:
        got = describe(get(timeout=max(0.01, end - time.monotonic())))
        if got["parent"] == message["header"]["msg_id"]:
            return got


def ask(type, content):
    """Sends a request and doesn't wait for its reply."""
    client = clients[0]
    client.shell_channel.send(client.session.msg(type, content))


def tell(type, content, timeout=30):
    """A message that has no reply: what is published for it, up to its idle status."""
    client = clients[0]
    message = client.session.msg(type, content)
    client.shell_channel.send(message)
    published = []
    end = time.monotonic() + timeout
    while not published or published[-1]["content"].get("execution_state") != "idle":
        got = describe(client.get_iopub_msg(timeout=max(0.01, end - time.monotonic())))
        if got["parent"] == message["header"]["msg_id"]:
            published.append(got)
    return published


def raw(frames, channel="shell"):
    """Sends bytes (given as text) to a socket of the kernel as they are."""
    context = zmq.Context.instance()
    socket = context.socket(zmq.DEALER)
    socket.linger = 1000
    info = manager.get_connection_info()
    socket.connect(f"tcp://{info['ip']}:{info[channel + '_port']}")
    socket.send_multipart([frame.encode() for frame in frames])
    socket.close()


def signed_wrongly(code):
    client = clients[0]
    session = client.session.clone()
    session.key = b"another key"
    context = zmq.Context.instance()
    socket = context.socket(zmq.DEALER)
    socket.linger = 1000
    info = manager.get_connection_info()
    socket.connect(f"tcp://{info['ip']}:{info['shell_port']}")
    message = session.msg("execute_request", {"code": code, "silent": False})
    socket.send_multipart(session.serialize(message))
    socket.close()


def interrupt():
    manager.interrupt_kernel()


def restart():
    manager.restart_kernel(now=False)
    clients[0].wait_for_ready(timeout=60)


def terminate():
    """As Jupyter does when a kernel doesn't end soon after its shutdown request."""
    manager.provisioner.process.terminate()


def kill():
    manager.provisioner.process.kill()


def shutdown(now=False):
    for client in clients:
        client.stop_channels()
    clients.clear()
    manager.shutdown_kernel(now=now)


def is_alive():
    return manager.is_alive()


def heartbeat(timeout=30):
    """True once the heart beats; after a long synchronous cell it needs a beat."""
    end = time.monotonic() + timeout
    while not clients[0].hb_channel.is_beating():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


commands = dict(globals())
for line in sys.stdin:
    command = json.loads(line)
    try:
        value = commands[command["op"]](**command.get("arguments", {}))
        answer = {"value": value}
    except queue.Empty:
        answer = {"error": "timeout"}
    except Exception as error:  # The test sees it.
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), file=answers, flush=True)
