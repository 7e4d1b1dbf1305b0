// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface ListSpendLimitsRequest {
  'walletId'?: (string);
  'keyId'?: (string);
}

export interface ListSpendLimitsRequest__Output {
  'walletId': (string);
  'keyId': (string);
}
