// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface SumRunningHoldsRequest {
  'walletId'?: (string);
  '_walletId'?: "walletId";
}

export interface SumRunningHoldsRequest__Output {
  'walletId'?: (string);
  '_walletId'?: "walletId";
}
