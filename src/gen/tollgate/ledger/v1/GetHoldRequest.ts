// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface GetHoldRequest {
  'walletId'?: (string);
  'holdId'?: (string);
}

export interface GetHoldRequest__Output {
  'walletId': (string);
  'holdId': (string);
}
