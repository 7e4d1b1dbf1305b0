// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface DeleteSpendLimitRequest {
  'walletId'?: (string);
  'limitId'?: (string);
}

export interface DeleteSpendLimitRequest__Output {
  'walletId': (string);
  'limitId': (string);
}
