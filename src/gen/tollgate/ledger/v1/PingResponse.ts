// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface PingResponse {
}

export interface PingResponse__Output {
}
