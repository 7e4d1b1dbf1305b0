// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface GetRollUpsRequest {
}

export interface GetRollUpsRequest__Output {
}
