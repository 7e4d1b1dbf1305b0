// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface PingRequest {
}

export interface PingRequest__Output {
}
