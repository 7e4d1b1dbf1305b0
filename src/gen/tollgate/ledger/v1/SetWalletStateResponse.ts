// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface SetWalletStateResponse {
}

export interface SetWalletStateResponse__Output {
}
