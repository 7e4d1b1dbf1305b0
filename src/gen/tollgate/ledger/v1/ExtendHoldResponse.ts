// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface ExtendHoldResponse {
}

export interface ExtendHoldResponse__Output {
}
