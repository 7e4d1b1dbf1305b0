// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface SetSpendLimitResponse {
}

export interface SetSpendLimitResponse__Output {
}
