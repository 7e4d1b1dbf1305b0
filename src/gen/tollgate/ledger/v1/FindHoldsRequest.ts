// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface FindHoldsRequest {
  'holdId'?: (string);
}

export interface FindHoldsRequest__Output {
  'holdId': (string);
}
