# Run by Debian's python3 with python3-grpcio and python3-protobuf: a client of the ledger on the C core of gRPC. It
# loads the descriptors by reflection. Arguments: address, token. Prints its results as one JSON line.
import json
import os
import sys
import time

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

address, token = sys.argv[1:3]
METADATA = [("authorization", "Bearer " + token)]
channel = grpc.insecure_channel(address)


def reflect(symbol):
    """Returns the descriptors of the file that declares a symbol, and of its imports."""
    ask = channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        request_serializer=lambda request: request,
        response_deserializer=lambda answer: answer,
    )
    request = bytes([0x22, len(symbol)]) + symbol.encode()
    answer = next(iter(ask(iter([request]), metadata=METADATA, timeout=10)))
    response = next(value for field, value in fields(answer) if field == 4)
    return [descriptor_pb2.FileDescriptorProto.FromString(value) for _, value in fields(response)]


def fields(data):
    """Yields the fields of a message of unknown type that has length-delimited fields alone."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        size, at = varint(data, at)
        yield key >> 3, data[at : at + size]
        at += size


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def add(files):
    """Adds files to the pool, each after its imports."""
    waiting = {each.name: each for each in files}

    def add_one(each):
        for name in each.dependency:
            if name in waiting:
                add_one(waiting.pop(name))
        pool.Add(each)

    while waiting:
        add_one(waiting.pop(next(iter(waiting))))


pool = descriptor_pool.DescriptorPool()
known = {}
for symbol in ("tollgate.ledger.v1.LedgerService", "google.rpc.ErrorInfo"):
    known.update((each.name, each) for each in reflect(symbol))
add(known.values())
factory = message_factory.MessageFactory(pool)


def message(name):
    return factory.GetPrototype(pool.FindMessageTypeByName(name))


def ledger(name):
    return message("tollgate.ledger.v1." + name)


SERVICE = "/tollgate.ledger.v1.LedgerService/"


def call(method, metadata=METADATA, **fields):
    stub = channel.unary_unary(
        SERVICE + method,
        request_serializer=lambda request: request.SerializeToString(),
        response_deserializer=ledger(method + "Response").FromString,
    )
    return stub(ledger(method + "Request")(**fields), metadata=metadata, timeout=10)


def failure(method, **fields):
    try:
        call(method, **fields)
        return ["OK"]
    except grpc.RpcError as error:
        return [error.code().name, *reasons_of(error)]


def reasons_of(error):
    info = message("google.rpc.ErrorInfo")
    for key, value in error.trailing_metadata():
        if key == "grpc-status-details-bin":
            for each in message("google.rpc.Status").FromString(value).details:
                if each.type_url.endswith("google.rpc.ErrorInfo"):
                    yield info.FromString(each.value).reason


def uuid_v7():
    at, tail = "%012x" % int(time.time() * 1000), os.urandom(9).hex()
    return "%s-%s-7%s-8%s-%s" % (at[:8], at[8:], tail[:3], tail[3:6], tail[6:18])


def health():
    check = channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        request_serializer=lambda request: request,
        response_deserializer=lambda answer: answer,
    )
    return check(b"", timeout=10).hex()


def stream(messages):
    request = ledger("StreamMutationsRequest")
    mutate = channel.stream_stream(
        SERVICE + "StreamMutations",
        request_serializer=lambda each: each.SerializeToString(),
        response_deserializer=ledger("StreamMutationsResponse").FromString,
    )

    def requests():
        for sequence in range(1, messages + 1):
            each = request(sequence=sequence)
            top_up = each.mutations.add().create_top_up
            top_up.wallet_id, top_up.top_up_id, top_up.amount_nanos = "python", "s%d" % sequence, 1
            yield each

    answers = mutate(requests(), metadata=METADATA, timeout=30)
    return sum(len([each for each in answer.results if not each.HasField("status")]) for answer in answers)


hold_id, ttl = uuid_v7(), {"seconds": 60}
call("CreateWallet", wallet_id="python")
call("CreateTopUp", wallet_id="python", top_up_id="t1", amount_nanos=9007199254740993)
held = call("CreateHold", wallet_id="python", hold_id=hold_id, key_id="k", amount_nanos=400, ttl=ttl)
missing = failure("SettleHold", wallet_id="python", hold_id=hold_id)
settled = call("SettleHold", wallet_id="python", hold_id=hold_id, amount_nanos=150)
again = call("SettleHold", wallet_id="python", hold_id=hold_id, amount_nanos=150)
too_much = failure("CreateHold", wallet_id="python", hold_id=uuid_v7(), key_id="k", amount_nanos=10**18, ttl=ttl)
print(
    json.dumps(
        {
            "granted": held.hold.granted_nanos,
            "captured": settled.hold.captured_nanos,
            "posted": settled.balances.posted_nanos,
            "replayed": again.replayed,
            "missing": missing,
            "too_much": too_much,
            "no_token": failure("Ping", metadata=[]),
            "health": health(),
            "streamed": stream(200),
        }
    )
)
