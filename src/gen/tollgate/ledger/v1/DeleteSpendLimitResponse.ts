// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface DeleteSpendLimitResponse {
}

export interface DeleteSpendLimitResponse__Output {
}
